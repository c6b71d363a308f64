import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const contracts = join(import.meta.dirname, '..', '..', 'src', 'contracts');

/** URLs of everything that a fresh process loads for an import of this file. */
function loadedBy(file: string): string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(pathToFileURL(file).href)});
    process.stdout.write(JSON.stringify(loaded));
  `;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

const folder = `${pathToFileURL(contracts).href}/`;

test('importing the contracts loads their own files only: no zod, no package, no schema, no Node module', () => {
  const loaded = loadedBy(join(contracts, 'index.ts'));
  expect(loaded).toContain(`${folder}index.ts`);
  expect(loaded.filter((url) => !url.startsWith(folder) || url.startsWith(`${folder}schemas/`))).toEqual([]);
});

test('importing the schemas loads zod and nothing else beside them', () => {
  const loaded = loadedBy(join(contracts, 'schemas', 'index.ts')).filter((url) => !url.startsWith(folder));
  expect(loaded.some((url) => url.includes('/node_modules/zod/'))).toBe(true);
  expect(loaded.filter((url) => !url.includes('/node_modules/zod/'))).toEqual([]);
});
