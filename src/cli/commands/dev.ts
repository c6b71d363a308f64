import { spawn } from 'node:child_process';
import type { FSWatcher } from 'node:fs';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXIT } from '../terminal/index.ts';

/** The program that is running, as it was started. */
const own = () => process.argv[1] ?? '';

/**
 * `coxswain dev`: `serve --ui` in a child that Node starts anew when the module, or a file that it imports, changes, and anew when a policy file does. The
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
  const changes = new PolicyChanges(module, flags);
  try {
    for (;;) {
      const code = await untilChanged(serve, changes, signal);
      if (code !== 'changed') return signal.aborted ? EXIT.done : code;
    }
  } finally {
    changes.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The server, with Node's own watching of modules; `changed`: it was ended because of a policy file. */
async function untilChanged(
  serve: readonly string[],
  changes: PolicyChanges,
  signal: AbortSignal,
): Promise<number | 'changed'> {
  const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...serve], { stdio: 'inherit' });
  let hasChanged = false;
  const stop = () => void child.kill('SIGTERM');
  changes.restart = () => {
    hasChanged = true;
    stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await new Promise<number | 'changed'>((done, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => done(hasChanged && !signal.aborted ? 'changed' : (code ?? EXIT.done)));
    });
  } finally {
    changes.restart = undefined;
    signal.removeEventListener('abort', stop);
  }
}

/** Milliseconds in which an editor writes a file in several steps. */
const SETTLE_MS = 100;
const ofPolicies = /\.(ya?ml|cedar)$/;

/** Policy files are no modules: that of `--policy`, and those beside the agent's module, which it may read by itself. */
class PolicyChanges {
  /** Called once for changes that come together. */
  restart: (() => void) | undefined;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Paths and times of the files that the server was started with last. */
  #state: string;
  readonly #folders: readonly string[];
  readonly #isPolicy: (folder: string, name: string) => boolean;

  constructor(module: string, flags: readonly string[]) {
    const at = flags.findIndex((flag) => flag === '--policy' || flag.startsWith('--policy='));
    const named = at < 0 ? undefined : (flags[at]?.split('=')[1] ?? flags[at + 1]);
    const policy = named === undefined || /^https?:/.test(named) ? undefined : resolve(named);
    const beside = dirname(resolve(module));
    this.#folders = [...new Set([beside, ...(policy === undefined ? [] : [dirname(policy)])])];
    this.#isPolicy = (folder, name) => join(folder, name) === policy || (folder === beside && ofPolicies.test(name));
    this.#state = this.#look();
    // An editor may put another file in the place of one: folders are watched.
    for (const folder of this.#folders) {
      const changed = (name: string | null) => name !== null && this.#isPolicy(folder, name) && this.#changed();
      try {
        this.#watchers.push(watch(folder, (_, name) => void changed(name)).on('error', () => {}));
      } catch {
        // It is not there: serve says so.
      }
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }

  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // A file that is written once is reported twice, emptied and filled: on a busy machine the second report comes after the restart.
      const state = this.#look();
      if (state === this.#state) return;
      this.#state = state;
      this.restart?.();
    }, SETTLE_MS);
  }

  #look(): string {
    return this.#folders
      .flatMap((folder) =>
        namesIn(folder).flatMap((name) => (this.#isPolicy(folder, name) ? [join(folder, name)] : [])),
      )
      .map((path) => {
        const found = statSync(path, { bigint: true, throwIfNoEntry: false });
        return `${path} ${found?.ino} ${found?.size} ${found?.mtimeNs}`;
      })
      .join('\n');
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
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
