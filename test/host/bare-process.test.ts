import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** A program that does nothing beside what it waits for. */
async function codeOf(program: string): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data;
  });
  const [code] = await once(child, 'close');
  return { code, out: out.trim() };
}

test('ATK-09 a policy that never says what it excludes is a fault of the turn, not the end of the process', async () => {
  const program = `
    import { createHost, LlmAgent, run } from './src/index.ts';
    import { ScriptedModel } from './src/testing/index.ts';
    const agent = new LlmAgent({ name: 'bot', model: new ScriptedModel(['hi']) });
    const policy = { evaluate: () => ({ outcome: 'allow' }), getExcluded: () => new Promise(() => {}) };
    const host = createHost({ app: 'shop', agents: [agent], policy, policyTimeoutMs: 50, warn() {} });
    const failed = await run(await host.open('bot'), 'go').catch((error) => ({ error }));
    console.log(failed.error.code);
  `;
  expect(await codeOf(program)).toEqual({ code: 0, out: 'E_POLICY' });
});
