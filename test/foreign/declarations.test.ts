import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publicEntries } from '../../scripts/generate-api.ts';
import { project } from '../packed.ts';
import { missing } from './bundlers.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string>;
  devDependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
/** What runs in browsers, beside what only names of Node's are missing from. */
const anywhere = ['./contracts', './contracts/schemas', './client'];
const lowest = JSON.parse(readFileSync(join(import.meta.dirname, 'consumers/package.json'), 'utf8')).dependencies
  .typescript;
const compilers = [
  [lowest, join(import.meta.dirname, 'consumers/node_modules/typescript/bin/tsc')],
  [manifest.devDependencies.typescript, join(root, 'node_modules/typescript/bin/tsc')],
] as const;

let home: ReturnType<typeof project>;
beforeAll(() => {
  home = project({ '@types/node': '@types/node', 'undici-types': 'undici-types' });
}, 300_000);
afterAll(() => home[Symbol.dispose]());

/** What a strict compiler that looks into every declaration has to say. */
async function compiled(compiler: string, names: readonly string[], options: object): Promise<string[]> {
  return faultsOf(compiler, { 'app.mts': usesOf(names) }, options);
}

function usesOf(names: readonly string[]): string {
  const lines = names.map((name, at) => `export * as e${at} from 'coxswain${name.slice(1)}';`);
  const use = `import { connect } from 'coxswain/client';
export const open = async () => (await connect('wss://agents.example/v1', { getToken: async () => 't' })).open('bot');
`;
  return `${use}${lines.join('\n')}\n`;
}

/** What a library makes of an entry that hands on what each value of it gives. */
function handedOnBy({ specifier, values }: { specifier: string; values: readonly string[] }): string {
  const lines = values.flatMap((name) => [
    `export const ${name}_ = gives(e.${name});`,
    `export const ${name}_later = await ${name}_;`,
  ]);
  return `import * as e from '${specifier}';
declare function gives<F>(f: F): F extends (...a: never) => infer R ? R : F extends abstract new (...a: never) => infer I ? I : F;
${lines.join('\n')}
`;
}

async function faultsOf(compiler: string, files: Record<string, string>, options: object): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home.folder, name), text);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    target: 'es2022',
    module: 'nodenext',
    ...options,
  };
  writeFileSync(join(home.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '-p', home.folder], (_, said) => resolve(said));
  });
  return stdout.split('\n').filter((line) => line.includes('error'));
}

describe.skipIf(missing !== undefined).each(compilers)(
  'HUNT-P3 the declarations, with TypeScript %s',
  (_, compiler) => {
    test('of what runs anywhere need a page’s library and nothing of Node', async () => {
      expect(await compiled(compiler, anywhere, { lib: ['es2022', 'dom'], types: [] })).toEqual([]);
    });

    test('of every entry need Node’s types, and the packages that the entry is for', async () => {
      const faults = await compiled(compiler, entries, { types: ['node'] });
      const optional = Object.keys(manifest.peerDependencies);
      const named = faults.map((line) => /Cannot find module '((?:@[^/']+\/)?[^/']+)/.exec(line)?.[1] ?? line);
      expect([...new Set(named)].filter((name) => !optional.includes(name))).toEqual([]);
    });

    test('let a library export what it was given: each entry names what its functions return', async () => {
      const files = Object.fromEntries([
        ...publicEntries().map((entry) => [`${entry.specifier.replaceAll('/', '-')}.mts`, handedOnBy(entry)]),
        ['library.mts', readFileSync(join(import.meta.dirname, 'apps/library.mts'), 'utf8')],
      ]);
      const options = { declaration: true, noEmit: false, outDir: 'made', types: ['node'], skipLibCheck: true };
      expect(await faultsOf(compiler, files, options)).toEqual([]);
    });
  },
);

test('HUNT-P3 the oldest compiler that is tried is the one that the documentation names', () => {
  const [, minor] = /^(\d+\.\d+)\./.exec(lowest) ?? [];
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`TypeScript ${minor} or newer`);
});
