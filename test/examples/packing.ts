import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unreachable } from '../installed.ts';
import { project } from '../packed.ts';

const root = join(import.meta.dirname, '../..');
export const quickly = ['--prefer-offline', '--no-audit', '--no-fund'];

export function npm(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd,
    env: ofUsers(),
    encoding: 'utf8',
    timeout: 200_000,
  });
  return { status, said: `${stdout}${stderr}`, last: stdout.trim().split('\n').at(-1) ?? '' };
}

/** What the npm that runs these tests has set would lead another elsewhere; keys of models would be used. */
export function ofUsers(): NodeJS.ProcessEnv {
  const { npm_config_local_prefix: _, npm_package_json: __, NODE_ENV: ___, ...inherited } = process.env;
  const kept = Object.entries(inherited).filter(([name]) => !/_(API_KEY|BASE_URL|MODEL)$|^COXSWAIN_/.test(name));
  return { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NO_COLOR: '1' };
}

/**
 * A project of a user's in an empty folder: the packed package and what else it names, installed from the registry.
 * @returns the tarball, and why nothing could be installed: the registry is not reachable; empty if it was
 */
export function installInto(home: string, others: readonly string[]): { tarball: string; fault: string } {
  using made = project();
  const packing = join(made.folder, 'node_modules/coxswain');
  for (const name of ['README.md', 'LICENSE']) cpSync(join(root, name), join(packing, name));
  const tarball = join(home, npm(packing, 'pack', '--ignore-scripts', '--pack-destination', home).last);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'home', private: true, type: 'module' }));
  const { status, said } = npm(home, 'install', ...quickly, tarball, ...others);
  const fault = unreachable.exec(/npm error code (\S+)/.exec(said)?.[1] ?? '')?.[0] ?? '';
  if (status !== 0 && fault === '') throw new Error(`npm install failed: ${said}`);
  return { tarball, fault };
}
