import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
const anywhere = ['./contracts', './contracts/schemas', './session', './adapters/remote'];
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
  const lines = names.map((name, at) => `export * as e${at} from 'coxswain${name.slice(1)}';`);
  const use = `import { connect } from 'coxswain/adapters/remote';
export const open = async () => (await connect('wss://agents.example/v1', { getToken: async () => 't' })).open('bot');
`;
  writeFileSync(join(home.folder, 'app.mts'), `${use}${lines.join('\n')}\n`);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    target: 'es2022',
    module: 'nodenext',
    ...options,
  };
  writeFileSync(join(home.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.mts'] }));
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
  },
);

test('HUNT-P3 the oldest compiler that is tried is the one that the documentation names', () => {
  const [, minor] = /^(\d+\.\d+)\./.exec(lowest) ?? [];
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`TypeScript ${minor} or newer`);
});
