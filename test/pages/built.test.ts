import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './blocks.ts';

/** What `npm run docs` installs; this test installs nothing. */
const isInstalled = existsSync(join(root, 'site/node_modules/.coxswain-installed'));
const title = 'the site is built, and every link of it leads somewhere';

test.skipIf(!isInstalled)(
  isInstalled ? title : `${title} (skipped: the site's packages are not installed, npm run docs installs them)`,
  { timeout: 900_000 },
  () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['site/build.ts'], { cwd: root, encoding: 'utf8' });
    expect([status, status === 0 ? '' : `${stdout}${stderr}`.slice(-4_000)]).toEqual([0, '']);
    expect(stdout).toContain('every link leads somewhere');
  },
);
