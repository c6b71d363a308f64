import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST_MS = 240_000;

/** Installs a folder's packages by its lock file, once. Why it could not; undefined if it could. */
export function installed(folder: string): string | undefined {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const mark = join(folder, 'node_modules', '.coxswain-installed');
  const isDone = () => existsSync(mark) && readFileSync(mark, 'utf8') === lock;
  if (isDone()) return undefined;
  return alone(folder, () => {
    if (isDone()) return undefined;
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const done = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: LONGEST_MS,
    });
    if (done.status !== 0) {
      const [why = 'npm ci was ended'] = /npm error .*/.exec(done.stderr ?? '') ?? [done.error?.message];
      return why;
    }
    writeFileSync(mark, lock);
    return undefined;
  });
}

/** Test files run side by side, and two installations in one folder would spoil each other. */
function alone<T>(folder: string, work: () => T): T {
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
