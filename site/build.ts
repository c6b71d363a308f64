import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installed } from '../test/installed.ts';
import { publishedEntries } from '../test/structure/source.ts';
import type { Section } from './navigation.ts';
import { routeOf, sections } from './navigation.ts';
import type { Page } from './stage.ts';
import { projectPages, stage, write } from './stage.ts';

/** Builds the site into `site/dist`: `npm run docs`. */

const here = import.meta.dirname;
const generated = join(here, 'generated');

const missing = installed(here);
if (missing !== undefined) throw new Error(missing);
// They import what has just been installed.
const { referencePages } = await import('./reference.ts');
const { faultsOf } = await import('./check.ts');

// The project's own check knows nothing of what the site has installed.
run('node_modules/typescript/bin/tsc', '-p', '.');
run('check.test.ts');

rmSync(generated, { recursive: true, force: true });
rmSync(join(here, 'dist'), { recursive: true, force: true });
console.log('API reference …');
const reference = await referencePages(join(generated, 'reference'));
stage([...projectPages(), ...reference], join(generated, 'pages'), join(generated, 'files'));
write(join(generated, 'sidebar.json'), JSON.stringify(sidebarOf(sections, reference)));

run('node_modules/astro/bin/astro.mjs', 'build');
cpSync(join(generated, 'files'), join(here, 'dist'), { recursive: true });

const faults = faultsOf(join(here, 'dist'), process.env.DOCS_BASE ?? '/');
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? 'site/dist: every link leads somewhere' : `${faults.length} faults of the site`);
if (faults.length > 0) process.exitCode = 1;

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(process.execPath, [join(here, program), ...args], {
    cwd: here,
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function sidebarOf(all: readonly Section[], api: readonly Page[]): unknown[] {
  const names = ['', ...publishedEntries().keys()].map((name) =>
    name === '' ? 'api' : `api/coxswain${name.slice(1)}`,
  );
  const lost = names.filter((route) => !api.some((page) => page.route === route));
  if (lost.length > 0) throw new Error(`the API reference has no page ${lost.join(', ')}`);
  return all.flatMap((section) => {
    const { pages, folder } = section;
    const items = [...pages, ...(folder === undefined ? [] : [folder])].map((path) => ({
      slug: routeOf(path) || 'index',
    }));
    const group = { label: section.label, items, collapsed: section.collapsed ?? false };
    if (section.label !== 'Reference') return [group];
    return [group, { label: 'API', items: names.map((slug) => ({ slug })), collapsed: true }];
  });
}
