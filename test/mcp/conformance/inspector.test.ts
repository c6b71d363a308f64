import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { McpListener } from '../../../src/host/mcp/index.ts';
import { serveMcpHttp } from '../../../src/host/mcp/index.ts';
import { installed } from '../../installed.ts';
import { conformanceHost } from './agents.ts';

const run = promisify(execFile);
const folder = join(import.meta.dirname, 'inspector');
const inspector = join(folder, 'node_modules', '.bin', 'mcp-inspector');
/** It is large: installed by whoever wants it, and by a CI. */
function whyMissing(): string | undefined {
  if (process.env.CI) return installed(folder, 'install');
  if (existsSync(inspector)) return undefined;
  return 'the inspector (111 MB) is not installed: npm install in test/mcp/conformance/inspector';
}
const missing = whyMissing();

let server: McpListener;
beforeAll(async () => {
  server = await serveMcpHttp(conformanceHost(), { conversations: false });
});
afterAll(() => server.close());

describe.each(['legacy', 'modern'])('the inspector, %s', (era) => {
  test('lists the agents without a finding and calls one', async (context) => {
    if (missing !== undefined) context.skip(missing);
    // It keeps a catalog of its own in the home folder.
    const home = mkdtempSync(join(tmpdir(), 'coxswain-inspector-'));
    const inspect = (...args: string[]) =>
      run(process.execPath, [inspector, '--cli', server.url, '--transport', 'http', '--protocol-era', era, ...args], {
        env: { ...process.env, HOME: home },
        cwd: home,
      });
    try {
      const listed = await inspect('--method', 'tools/list', '--strict');
      const { tools } = JSON.parse(listed.stdout) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toContain('test_simple_text');
      expect(listed.stderr).toBe('');
      const called = await inspect('--method', 'tools/call', '--tool-name', 'test_simple_text');
      expect(JSON.parse(called.stdout)).toMatchObject({
        content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
      });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
