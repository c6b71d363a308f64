import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { unreachable } from '../installed.ts';
import { project } from '../packed.ts';
import { blocksOf } from './blocks.ts';
import { playedFaults } from './site.ts';

const page = 'docs/getting-started.md';

/** Of the npm that runs these tests: it would install there instead. */
const { npm_config_local_prefix: _, npm_package_json: __, NODE_ENV: ___, ...env } = process.env;

test('D4 a newcomer installs the package into an empty folder and follows the page, block by block', async ({
  skip,
}) => {
  const home = mkdtempSync(join(tmpdir(), 'coxswain-newcomer-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const install = blocksOf(page).find(({ words }) => words.name === 'install')?.text ?? '';
  expect(install).toContain('npm install coxswain');

  using made = project();
  // The name is the tarball's here; the rest is as the page has it, with a cache that holds nothing.
  const tarball = spawnSync('npm', ['pack', '--ignore-scripts', '--pack-destination', home], {
    cwd: join(made.folder, 'node_modules/coxswain'),
    env,
    encoding: 'utf8',
  }).stdout.trim();
  const typed = install.replace('npm install coxswain', `npm install ${join(home, tarball)}`);
  const { status, stderr } = spawnSync('bash', ['-e', '-c', typed], {
    cwd: home,
    env: { ...env, npm_config_cache: join(home, 'cache') },
    encoding: 'utf8',
  });
  const [, code = ''] = /npm error code (\S+)/.exec(stderr) ?? [];
  if (unreachable.test(code)) skip(`the registry is not reachable (${code})`);
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);

  const folder = join(home, 'notes');
  expect(await playedFaults(folder, page, folder)).toEqual([]);
}, 300_000);
