import { describe, expect, test } from 'vitest';
import type { AnyAgentTool, SessionInput } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { agentTool, InMemorySessionService } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from './elsewhere.ts';
import { bench, endOf, host, key, llm, mortal, responses, tool } from './kit.ts';

/** An agent whose tools come from elsewhere, and may be away. */
function away(tools: readonly AnyAgentTool[]) {
  const line = { isDown: false };
  const toolset = {
    name: 'remote',
    tools: async () => {
      if (line.isDown) throw new Error('offline');
      return tools;
    },
  };
  const bot = (scripts: readonly Script[]) => llm('bot', new ScriptedModel(scripts), { toolsets: [toolset] });
  return { line, bot };
}

const calls = (name: string, args = {}) => ({ calls: [[name, args] as const] });

describe('S0-32 a toolset that is away when a turn goes on', () => {
  test.each([
    ['without a host', false],
    ['under a host', true],
  ])('leaves open what a person is asked about, %s: it runs when it is back', async (_, hosted) => {
    const runs: unknown[] = [];
    const { line, bot } = away([tool('pay', (args) => void runs.push(args), { needsApproval: true })]);
    const sessions = new InMemorySessionService();
    const open = async (...scripts: Script[]) => {
      const source = fromAgent(bot(scripts), { store: sessions, warn: () => {} });
      if (!hosted) return source.open({ sessionId: 's', create: true }, host);
      return createHost({ app: host.app, userId: key.userId, agents: [source], policy: allowAll() }).open('bot', {
        sessionId: 's',
        create: true,
      });
    };
    expect((await run(await open(calls('pay', { n: 1 })), 'go')).reason).toBe('input_required');
    line.isDown = true;
    const session = await open('paid');
    const waiting = await run(session, { kind: 'continue' });
    expect([waiting.reason, waiting.pending.map(({ name }) => name)]).toEqual(['input_required', ['pay']]);
    line.isDown = false;
    const requestId = String(waiting.pending[0]?.requestId);
    const yes: SessionInput = hosted
      ? { kind: 'tool_approval', requestId }
      : { kind: 'elicitation_response', requestId, response: { action: 'accept' } };
    expect(await run(session, yes)).toMatchObject({ reason: 'completed', text: 'paid' });
    expect(runs).toEqual([{ n: 1 }]);
  });

  test('R29 a call that was started is asked about: its effects are unknown', async () => {
    const { line, bot } = away([tool('pay', () => 'paid')]);
    const store = new InMemorySessionService();
    const isResponse = ({ content }: StoredEvent) =>
      content?.parts.some(({ type }) => type === 'function_response') ?? false;
    const first = bench(bot([calls('pay')]), { store: mortal(store, (events) => events.some(isResponse)) });
    await expect(first.say('go')).rejects.toThrow('the process is gone');
    line.isDown = true;
    const second = bench(bot(['told']), { store: elsewhere(store) });
    const asked = (await second.say({ kind: 'continue' })).at(-1)?.actions.asks?.[0];
    expect(asked).toMatchObject({ kind: 'rerun_unknown' });
    const response = { action: 'accept' as const };
    const done = await second.say({ kind: 'elicitation_response', requestId: String(asked?.requestId), response });
    expect([endOf(done), responses(done).pay?.error]).toEqual([
      'completed',
      'its outcome is unknown, and its tool is not there to be run again',
    ]);
  });

  test('S3-54 an agent run as a tool goes on waiting for what it asked', async () => {
    const runs: unknown[] = [];
    const pay = tool('pay', (args) => void runs.push(args), { needsApproval: true });
    const expert = llm('expert', new ScriptedModel([calls('pay'), 'expert paid']), { tools: [pay] });
    const { line, bot } = away([agentTool(expert)]);
    const sessions = new InMemorySessionService();
    const asked = await bench(bot([calls('expert', { request: 'go' })]), { store: sessions }).say('go');
    const requestId = String(asked.at(-1)?.actions.asks?.[0]?.requestId);
    line.isDown = true;
    const { say, log } = bench(bot(['done']), { store: sessions });
    await say({ kind: 'continue' });
    expect(responses(await log())).toEqual({});
    line.isDown = false;
    const done = await say({ kind: 'elicitation_response', requestId, response: { action: 'accept' } });
    expect([endOf(done), runs.length, responses(done).expert]).toEqual(['completed', 1, { result: 'expert paid' }]);
  });
});

test('S0-32 a toolset cannot take the place of what an agent hands over with; a tool without a name is left out', async () => {
  const odd = [
    null,
    { ...tool('x', () => 1), name: undefined },
    tool('transfer_to_agent', () => 'mine'),
    tool('ok', () => 1),
  ];
  const model = new ScriptedModel([calls('ok'), 'done']);
  const agent = llm('bot', model, {
    toolsets: [{ name: 'odd', tools: () => odd as AnyAgentTool[] }],
    subAgents: [llm('clerk', model)],
  });
  const { say, warnings } = bench(agent);
  expect(endOf(await say('hi'))).toBe('completed');
  expect(model.requests[0]?.tools).toEqual(['transfer_to_agent', 'ok']);
  expect([...new Set(warnings)]).toEqual([
    'toolset odd offers a tool without a name',
    'agent bot is offered a tool named transfer_to_agent, which is what it hands over with; it is left out',
  ]);
});
