import { describe, expect, test } from 'vitest';
import {
  createHost,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  rulePolicy,
  subagentTool,
} from '../../../src/index.ts';
import { lyingExecutor, ScriptedModel } from '../../../src/testing/index.ts';
import { all, refusal, say } from '../kit.ts';

/** Two executors of others, which name their sessions and calls alike, call one expert of the host. */
function shopOf(isStarted: boolean) {
  const heard: Record<string, string[]> = { a: [], b: [] };
  const expert = new LlmAgent({
    name: 'expert',
    description: 'knows',
    model: new ScriptedModel(['for a alone', 'for b alone']),
  });
  const caller = (name: 'a' | 'b') =>
    lyingExecutor({
      name,
      calls: [{ id: 'c1', name: 'expert', args: { request: `for ${name}?` } }],
      lies: {
        ...(isStarted && name === 'b' ? { open: (open) => open.map((one) => ({ ...one, started: true })) } : {}),
        hears: (inputs) => {
          for (const input of inputs)
            if (typeof input === 'object' && 'result' in input) heard[name]?.push(JSON.stringify(input.result));
        },
      },
    });
  const store = new InMemorySessionService();
  const host = createHost({
    app: 'shop',
    store,
    agents: [caller('a'), caller('b'), expert],
    tools: [subagentTool(fromAgent(expert))],
    policy: rulePolicy([
      { id: 'a', tool: 'expert', agent: 'a', outcome: 'allow' },
      { id: 'b', tool: 'expert', agent: 'b', outcome: 'ask' },
    ]),
  });
  return { host, store, heard };
}

describe.each([false, true])('ATK5-17 a call that its executor says was started: %s', (isStarted) => {
  test('is given what its own sub-agent says, whatever another agent’s call of that number was told', async () => {
    const { host, store, heard } = shopOf(isStarted);
    const open = (agent: string) => host.open(agent, { sessionId: 'main', create: true });
    await all((await open('a')).stream('go'));
    expect(heard.a).toEqual([expect.stringContaining('for a alone')]);
    const second = await open('b');
    await all(second.stream('go'));
    const [question] = await second.pending();
    await second.respond(question?.requestId ?? '', { kind: 'approve' });
    await all(second.stream({ kind: 'continue' }));
    expect(heard.b).toEqual([expect.stringContaining('for b alone')]);
    const made = (await store.list({ app: 'shop', userId: 'local' })).map(({ id }) => id);
    expect(new Set(made).size).toBe(2);
    // Nobody but its caller speaks in one.
    for (const sessionId of made) {
      const child = await host.open('expert', { sessionId });
      expect((await refusal(say(child, 'what was it?'))).code).toBe('E_CEILING');
    }
    await host.close();
  });
});
