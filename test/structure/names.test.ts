import { describe, expect, test } from 'vitest';
import { declaredNames, sourceFiles } from './source.ts';

/** Names that are declared twice, and why a reader is not misled by it. */
const honest: Record<string, string> = {
  createHost: 'one function: that of the package takes agents of the runtime too, and calls that of host',
  HostOptions: 'options of one function: those of the package name the types of stores, credentials and models too',
  noticeText: 'the same text, made by either end of the session protocol; the two do not import one another',
  permissionMode: 'the schema of a mode on the wire, and the check of a mode that is an option',
  policyRequest: 'the schema of a request to a policy, and what makes one of a call',
  textPart: 'the schema of a part with text, and what makes one of a text',
};

/** Where each exported name is declared. */
function places(files: readonly { path: string; code: string }[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, code } of files) {
    for (const name of declaredNames(code)) found.set(name, [...(found.get(name) ?? []), path]);
  }
  return found;
}

const twice = (found: Map<string, string[]>) => [...found].filter(([, paths]) => paths.length > 1);

describe('names', () => {
  test('no exported name stands for two things, but those whose reason is given', () => {
    const found = twice(places(sourceFiles()));
    const wrong = found.filter(([name]) => !honest[name]).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
    expect(wrong).toEqual([]);
  });

  test('every reason is needed', () => {
    const found = new Map(twice(places(sourceFiles())));
    expect(Object.keys(honest).filter((name) => !found.has(name))).toEqual([]);
  });

  test('declarations of each kind are read, overloads once, and a name that an export gives', () => {
    const code = [
      'export function a(x: 1): void;',
      'export function a(x: unknown): void {}',
      'export async function* b() {}',
      'export abstract class C {}',
      'export interface D<T> {}',
      'export type E = { export: 1 };',
      'export const f = 1;',
      "export { g as h, i, type J as K } from './other.ts';",
      "export { l } from './other.ts';",
      'const m = 1;',
      '  export const n = 1;',
    ].join('\n');
    expect(declaredNames(code)).toEqual(['a', 'b', 'C', 'D', 'E', 'f', 'h', 'K']);
  });
});

test('the adapter of the runtime has its sessions through one front', () => {
  const taken = sourceFiles()
    .filter(({ path }) => path.startsWith('adapters/adk/'))
    .flatMap(({ code }) => [...code.matchAll(/\{([^}]*)\} from '\.\.\/\.\.\/runtime\/session\/index\.ts'/g)])
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
    .filter((name) => name !== '');
  expect([...new Set(taken)].sort()).toEqual([
    ...['AbortCall', 'DescribeOptions', 'RuntimeSession', 'RuntimeSessionOptions'],
    ...['describeAgent', 'endData', 'forkAt', 'sessionFor', 'settling', 'storedEnd'],
  ]);
});
