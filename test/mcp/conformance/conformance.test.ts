import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpListener } from '../../../src/host/mcp/index.ts';
import { installed } from '../../installed.ts';
import { serveConformance } from './serve.ts';

const run = promisify(execFile);
const suite = join(import.meta.dirname, 'suite');
const bin = join(suite, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** Scenarios that fail, with the reason, by version of the protocol. */
const expected = JSON.parse(readFileSync(join(suite, 'expected-failures.json'), 'utf8')) as Record<
  string,
  Record<string, string>
>;

const missing = installed(suite);

let server: McpListener;
beforeAll(async () => {
  server = await serveConformance();
});
afterAll(() => server?.close());

/** `✓ name: …` and `✗ name: …` of the report, and those below "Not scored". */
function read(report: string): { failed: string[]; passed: string[] } {
  const of = (sign: string) => [...report.matchAll(new RegExp(`^${sign} ([\\w-]+): \\d+ passed`, 'gm'))];
  return { failed: of('✗').map(([, name = '']) => name), passed: of('✓').map(([, name = '']) => name) };
}

describe.concurrent.each(Object.keys(expected))("the protocol's own suite, %s", (revision) => {
  test('every required scenario passes; what is expected to fail does, and for the reason given', async (context) => {
    if (missing !== undefined) context.skip(missing);
    const args = [bin, 'server', '--url', server.url, '--requirements', revision];
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
    const outcome = await run(process.execPath, args, { env, cwd: suite, maxBuffer: 2 ** 26 }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    const { failed, passed } = read(outcome.stdout);
    expect(passed.length, outcome.stdout).toBeGreaterThan(25);
    const known = expected[revision] ?? {};
    expect(
      failed.filter((name) => !(name in known)),
      'fails and is not expected to',
    ).toEqual([]);
    expect(
      Object.keys(known).filter((name) => !failed.includes(name)),
      'is expected to fail and passes',
    ).toEqual([]);
    expect(Object.values(known).filter((reason) => reason.length < 20)).toEqual([]);
    expect(outcome.code).toBe(0);
  });
});
