import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printed } from '../types/tasks/printed.ts';
import { installInto, ofUsers } from './packing.ts';

const root = join(import.meta.dirname, '../..');
const tasks = join(root, 'test/types/tasks');
const { dependencies } = JSON.parse(readFileSync(join(tasks, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Libraries of schemas, by the file that has the programs' schemas in their words. */
const libraries = readdirSync(join(tasks, 'schemas')).map((file) => file.replace('.ts', ''));
const programs = Object.keys(printed);
/** Those that write a schema, or take a tool with one. */
const schemaTakers = programs.filter((program) => program !== '8-mcp.ts');
/** What programs have in common, and what must not compile. */
const shared = ['bank.ts', 'wrong.ts'];

let home: string;
let fault = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'coxswain-tasks-'));
  const others = Object.entries(dependencies).filter(([name]) => name !== 'coxswain');
  ({ fault } = installInto(
    home,
    others.map(([name, version]) => `${name}@${version}`),
  ));
  for (const library of libraries) {
    mkdirSync(join(home, library));
    for (const file of [...programs, ...shared]) copyFileSync(join(tasks, file), join(home, library, file));
    copyFileSync(join(tasks, 'schemas', `${library}.ts`), join(home, library, 'schemas.ts'));
  }
}, 600_000);
afterAll(() => rmSync(home, { recursive: true, force: true }), 120_000);

const ways = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};

/** What a compiler has to say of all programs, each with the lines that explain it. */
function faultsOf(
  compiler: string,
  options: object,
  files: readonly string[] = libraries.map((name) => `${name}/*.ts`),
) {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    target: 'es2022',
    types: ['node'],
    ...options,
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: files }));
  const bin = join(home, 'node_modules', compiler, 'bin/tsc');
  const args = [bin, '-p', home, '--pretty', 'false'];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8' });
  if (status !== 0 && stdout === '') throw new Error(`the compiler did not run: ${status}`);
  return stdout.split(/\n(?! )/).filter((fault) => fault.trim() !== '');
}

describe('ten tasks, against the installed package', () => {
  test.for(Object.entries(ways))(
    'they compile strictly, every declaration looked into, and no wrong use does: moduleResolution %s',
    { timeout: 300_000 },
    ([, way], { skip }) => {
      if (fault !== '') skip(`the registry is not reachable (${fault})`);
      expect(faultsOf('typescript', { ...way, skipLibCheck: false })).toEqual([]);
    },
  );

  test('the oldest compiler that the documentation names infers the same', { timeout: 300_000 }, ({ skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const faults = faultsOf('typescript-lowest', { ...ways.node16, skipLibCheck: false });
    // The declarations of effect are for 5.7 and newer, which has generic typed arrays; ours and the others' are clean.
    expect(faults.filter((text) => !/^node_modules\/effect(?:-3)?\/\S+ error TS2315/.test(text))).toEqual([]);
  });

  test('a wrong use is told in words that lead to the mistake', { timeout: 300_000 }, ({ skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const lines = readFileSync(join(tasks, 'wrong.ts'), 'utf8').split('\n');
    const bare = lines.map((line) => line.replace('// @ts-expect-error', '// wrong:'));
    writeFileSync(join(home, 'zod-4/bare.ts'), bare.join('\n'));
    const faults = faultsOf('typescript', { ...ways.node16, skipLibCheck: true }, ['zod-4/bare.ts']);
    rmSync(join(home, 'zod-4/bare.ts'));
    const said = new Map<number, string>();
    for (const text of faults) {
      const line = Number(/^zod-4\/bare\.ts\((\d+),/.exec(text)?.[1]);
      said.set(line, (said.get(line) ?? '') + text);
    }
    const untold = lines.flatMap((line, at) => {
      const [, words] = /^ *\/\/ @ts-expect-error (.*)/.exec(line) ?? [];
      const told = said.get(at + 2) ?? 'nothing';
      return words === undefined || told.includes(words) ? [] : [{ words, told }];
    });
    expect(untold).toEqual([]);
  });

  const linesOf = async (library: string, args: readonly string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: join(home, library), env: ofUsers() });
    return stdout.trimEnd().split('\n');
  };

  // In a process of its own, as its user starts it.
  test.for(Object.entries(printed))('with schemas of zod-4 %s runs', async ([program, lines], { skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    expect(await linesOf('zod-4', [program])).toEqual(lines);
  });

  // One process for all of a library: what differs is the library.
  test.for(libraries.filter((library) => library !== 'zod-4'))(
    'with schemas of %s all run that take one',
    async (library, { skip }) => {
      if (fault !== '') skip(`the registry is not reachable (${fault})`);
      const all = schemaTakers.map((program) => `console.log('# ${program}'); await import('./${program}');`).join(' ');
      const expected = schemaTakers.flatMap((program) => [`# ${program}`, ...(printed[program] ?? [])]);
      expect(await linesOf(library, ['--input-type=module', '--eval', all])).toEqual(expected);
    },
  );
});
