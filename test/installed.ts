import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST_MS = 240_000;

/** Codes of npm that say so of its registry. */
export const unreachable = /^(E5\d\d|ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENET\w+|EHOSTUNREACH)$/;

/**
 * Installs a folder's packages by its lock file, once. Undefined: they are there; else why they cannot be had: the
 * registry is not reachable.
 * @param command `install` for a lock file that names a package which no registry has, and which `ci` refuses for that
 * @throws Error whatever else is wrong: a fault of the folder
 */
export function installed(folder: string, command: 'ci' | 'install' = 'ci'): string | undefined {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const mark = join(folder, 'node_modules', '.coxswain-installed');
  const isDone = () => existsSync(mark) && readFileSync(mark, 'utf8') === lock;
  if (isDone()) return undefined;
  return alone(folder, () => {
    if (isDone()) return undefined;
    // Of the npm that runs these tests: it would install there instead.
    const { npm_config_local_prefix: _, NODE_ENV: __, ...env } = process.env;
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--omit=dev'];
    const { status, stderr, error } = spawnSync(npm, [command, ...flags], {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: LONGEST_MS,
    });
    if (status === 0) {
      writeFileSync(mark, lock);
      return undefined;
    }
    const [, code = ''] = /npm error code (\S+)/.exec(stderr ?? '') ?? [];
    const isTooSlow = (error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT';
    if (!unreachable.test(code) && !isTooSlow) throw new Error(`npm ${command} failed in ${folder}: ${stderr}`);
    const why = `${folder} could not be installed: the registry is not reachable (${code || 'time-out'})`;
    console.warn(why);
    return why;
  });
}

/** Test files run side by side, and two installations in one folder would spoil each other. */
export function alone<T>(folder: string, work: () => T): T {
  const busy = join(tmpdir(), `coxswain-install-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`);
  while (!taken(busy)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    return work();
  } finally {
    rmSync(busy, { recursive: true, force: true });
  }
}

/** A sign that is older than any installation was left behind by a process that is gone. */
function taken(sign: string): boolean {
  try {
    mkdirSync(sign);
    return true;
  } catch {
    const since = statSync(sign, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > LONGEST_MS) rmSync(sign, { recursive: true, force: true });
    return false;
  }
}
