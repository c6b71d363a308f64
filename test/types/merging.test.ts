import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../structure/source.ts';

/** What the compiler says of a program of its own: merged declarations reach every file of the one they are in. */
function compile(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'program.mts'), code);
  const compilerOptions = {
    lib: ['es2024', 'esnext.disposable', 'webworker'],
    types: [],
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
  };
  const config = { extends: join(root, 'tsconfig.json'), include: ['program.mts'], compilerOptions };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
  return '';
}

const contracts = JSON.stringify(join(root, 'src', 'entries', 'contracts.ts'));
const imports = `import type { AgentEvent, AgentEvents, EventBase } from ${contracts};`;
const merge = `
  declare module ${contracts} {
    interface AgentEvents { weather: EventBase & { type: 'weather'; sun: boolean } }
    interface CustomKinds { mood: { good: boolean } }
  }
`;
const uses = `
  export const sun = (event: AgentEvent) => event.type === 'weather' && event.sun;
  export const good = (event: AgentEvents['custom']) => event.kind === 'mood' && event.data.good;
  export const at = (event: AgentEvent): string => event.timestamp;
`;

// Two runs of the compiler.
test('S3-33 event types and custom kinds of others are added by declaration merging, and narrow', {
  timeout: 300_000,
}, () => {
  expect(compile(imports + merge + uses)).toBe('');
  expect(compile(imports + uses)).toMatch(/TS2367.*"weather"[\s\S]*TS2367.*"mood"/);
  const typos = uses.replace('event.sun', 'event.rain').replace('data.good', 'data.bad');
  expect(compile(imports + merge + typos)).toMatch(/TS2339.*'rain'[\s\S]*TS2339.*'bad'/);
});
