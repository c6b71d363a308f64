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

test.each([
  [
    'idle() after a decision',
    `await host.approvals.decide(open.requestId, { kind: 'approve' }, { by: { id: 'local' } });
    await host.idle();`,
  ],
  [
    'the end of a recovery',
    `await session.respond(open.requestId, { kind: 'approve' });
    const { done } = await host.recover();
    await done;`,
  ],
])('ATK2-31 the process does not end while %s is waited for', async (_, wait) => {
  const program = `
    import { createHost, defineTool, LlmAgent, run } from './src/index.ts';
    import { openSqlite } from './src/adapters/stores/sqlite.ts';
    import { ScriptedModel } from './src/testing/index.ts';
    // As where another process runs the session: nothing here keeps this one.
    const execute = () => new Promise((resolve) => setTimeout(resolve, 30, 'ok').unref());
    const pay = defineTool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute });
    const agent = new LlmAgent({ name: 'bot', model: new ScriptedModel([{ calls: [['pay', {}]] }, 'done']) });
    const policy = { evaluate: () => ({ outcome: 'ask' }) };
    const host = createHost({ app: 'shop', store: openSqlite(':memory:'), agents: [agent], tools: [pay], policy, toolTimeoutMs: 0 });
    const session = await host.open('bot', { sessionId: 's', create: true });
    const { pending: [open] } = await run(session, 'go');
    ${wait}
    console.log((await session.standing()).isOver);
  `;
  expect(await codeOf(program)).toEqual({ code: 0, out: 'true' });
});
