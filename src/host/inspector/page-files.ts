import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { CoxswainError } from '../../contracts/index.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** No inline script or style, no `eval`, nothing of another origin, no frame, no text that becomes markup. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  'media-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Of every answer below the page's path. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

interface PageFile {
  type: string;
  /** Its name changes with its content. */
  isFixed: boolean;
  body: Buffer;
  compressed: Map<string, Promise<Buffer>>;
}

/** The page's files: read once, compressed when they are first asked for. */
export class PageFiles {
  readonly #files = new Map<string, PageFile>();

  /** @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` where they are not */
  constructor(folder: string = ownFolder()) {
    if (!existsSync(join(folder, 'index.html'))) throw missing(folder);
    for (const name of readdirSync(folder, { recursive: true }).map(String)) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const path = name.split(sep).join('/');
      const body = readFileSync(join(folder, name));
      this.#files.set(path, { type, isFixed: path.startsWith('assets/'), body, compressed: new Map() });
    }
  }

  /** False: there is no such file. */
  answer(name: string, request: IncomingMessage, response: ServerResponse): boolean {
    const file = this.#files.get(name);
    if (!file) return false;
    const encoding = encodingFor(request);
    const send = (body: Buffer, isCompressed: boolean) => {
      response.writeHead(200, {
        ...PAGE_HEADERS,
        'content-type': file.type,
        'cache-control': file.isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(encoding !== undefined && isCompressed ? { 'content-encoding': encoding } : {}),
        'content-length': body.length,
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    if (encoding === undefined) send(file.body, false);
    else
      compressed(file, encoding).then(
        (body) => send(body, true),
        () => send(file.body, false),
      );
    return true;
  }
}

function encodingFor({ headers }: IncomingMessage): 'br' | 'gzip' | undefined {
  const accepted = String(headers['accept-encoding'] ?? '');
  return (['br', 'gzip'] as const).find((name) => new RegExp(`\\b${name}\\b(?!;q=0(\\.0+)?\\b)`).test(accepted));
}

/** Beside the thread that answers: the first page load must not hold up turns of others. */
function compressed(file: PageFile, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const known = file.compressed.get(encoding);
  if (known) return known;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  const made = encoding === 'br' ? promisify(brotliCompress)(file.body, { params }) : promisify(gzip)(file.body);
  file.compressed.set(encoding, made);
  return made;
}

/** In the package, whichever of its files this code is in. */
function ownFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const built = join(folder, 'dist', 'inspector');
    if (existsSync(join(built, 'index.html'))) return built;
    if (folder === dirname(folder)) throw missing('dist/inspector');
  }
}

function missing(folder: string): CoxswainError {
  const message = `the files of the inspector are not in ${folder}: install the published package, run "npm run build" in its sources, or name their folder in ui.files`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message);
}
