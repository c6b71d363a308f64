import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXIT } from '../terminal/index.ts';

/** The program that is running, as it was started. */
const own = () => process.argv[1] ?? '';

/**
 * `coxswain dev`: `serve --ui` in a child that Node starts anew when the module, or a file that it imports, changes. The
 * page is opened once, signed in; it connects again by itself, also where any free port is asked for: it is chosen once.
 */
export async function devCommand(module: string, flags: readonly string[], signal: AbortSignal): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-dev-'));
  const opened = join(folder, 'open.html');
  const serve = [
    own(),
    'serve',
    module,
    '--ui',
    '--deadline',
    '1',
    '--open-once',
    opened,
    ...(await withFixedPort(flags)),
  ];
  const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...serve], { stdio: 'inherit' });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(signal.aborted ? EXIT.done : (code ?? EXIT.done)));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The page finds a server that was started again at the address where it was. */
async function withFixedPort(flags: readonly string[]): Promise<string[]> {
  const at = flags.findIndex((flag, index) => flag === '--port=0' || (flag === '--port' && flags[index + 1] === '0'));
  if (at < 0) return [...flags];
  const port = await freePort();
  return flags.toSpliced(at, flags[at] === '--port' ? 2 : 1, '--port', String(port));
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Opens a page signed in, unless `file` shows that this was done. The code is in a file for this user alone, as the
 * arguments of a program can be read by everybody on a machine; behind `#` it is sent to no server.
 */
export function openOnce(file: string, page: string, code: string | undefined): boolean {
  if (existsSync(file)) return false;
  const url = code === undefined ? page : `${page}#code=${code}`;
  const html = `<!doctype html><meta http-equiv="refresh" content="0; url=${url}"><a href="${url}">Open the inspector</a>\n`;
  writeFileSync(file, html, { mode: 0o600, flag: 'wx' });
  const [command = '', ...args] = opener(pathToFileURL(file).href);
  // Nobody can open it: the address is printed as well.
  spawn(command, args, { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
  return true;
}

function opener(target: string): string[] {
  const { BROWSER } = process.env;
  if (BROWSER) return [BROWSER, target];
  if (process.platform === 'darwin') return ['open', target];
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', target];
  return ['xdg-open', target];
}
