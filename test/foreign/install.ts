import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Installs a folder's packages by its lock file, once. Why it could not; undefined if it could. */
export function installed(folder: string): string | undefined {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const mark = join(folder, 'node_modules', '.coxswain-installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return undefined;
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const done = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (done.status === 0) {
    writeFileSync(mark, lock);
    return undefined;
  }
  const [why = 'npm ci was ended'] = /npm error .*/.exec(done.stderr ?? '') ?? [done.error?.message];
  return why;
}
