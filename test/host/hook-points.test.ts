import { expect, test } from 'vitest';
import type { HookPayloads } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import { allowAll, fromAgent, subagentTool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, endOf, hostOf, only, ownTool, readOnly, results, say, tool } from './kit.ts';

const payloads: Record<keyof HookPayloads, string[]> = {
  on_user_message: ['context', 'userMessage'],
  before_run: ['context'],
  after_run: ['context'],
  on_event: ['context', 'event'],
  before_agent: ['agent', 'context'],
  after_agent: ['agent', 'context'],
  before_model: ['context', 'llmRequest'],
  after_model: ['context', 'llmResponse'],
  on_model_error: ['context', 'error', 'request'],
  before_tool: ['args', 'context', 'tool'],
  after_tool: ['args', 'context', 'result', 'tool', 'wasAsked'],
  on_tool_error: ['args', 'context', 'error', 'tool'],
};

/** A listener on every point, and what it heard: point and tool. */
function listener() {
  const heard: string[] = [];
  const keys: Record<string, string[]> = {};
  const points = Object.keys(payloads);
  return {
    heard,
    keys,
    hooks: {
      fire(point: string, payload: unknown) {
        const { tool } = payload as { tool?: { name: string } };
        heard.push(tool ? `${point} ${tool.name}` : point);
        keys[point] = Object.keys(payload as object).sort();
        return undefined;
      },
      supportedHookPoints: () => points,
    },
  };
}

const breaks = () => {
  throw new Error('no');
};

test('S3-58 a host’s hooks hear all twelve points of a run, each once: of its own tools and of the agent’s', async () => {
  const { heard, keys, hooks: all } = listener();
  const model = new ScriptedModel([
    { calls: [['hosts'], ['hosts_broken'], ['agents'], ['agents_broken']] },
    { error: new Error('down') },
    'fine',
  ]);
  const agent = bot(model, { tools: [tool('agents', () => 1, readOnly), tool('agents_broken', breaks, readOnly)] });
  const { host } = hostOf(agent, {
    tools: [tool('hosts', () => 1, readOnly), tool('hosts_broken', breaks, readOnly)],
    policy: allowAll(),
    hooks: all,
  });
  const session = await host.open('bot');
  expect(endOf(await say(session, 'go')).reason).toBe('failed');
  expect(endOf(await say(session, 'again')).reason).toBe('completed');
  expect(keys).toEqual(payloads);
  const often = (point: string) => heard.filter((line) => line === point).length;
  for (const name of ['hosts', 'hosts_broken', 'agents', 'agents_broken']) {
    expect([name, often(`before_tool ${name}`), often(`after_tool ${name}`)]).toEqual([name, 1, 1]);
  }
  expect([often('on_tool_error hosts_broken'), often('on_tool_error agents_broken')]).toEqual([1, 1]);
  expect([often('on_user_message'), often('before_agent'), often('before_model'), often('on_model_error')]).toEqual([
    2, 2, 3, 1,
  ]);
});

test('S3-58 S3-60 what they return counts there as anywhere: a host can answer for the model, and keep it from running', async () => {
  const model = new ScriptedModel(['never']);
  const content = { role: 'model' as const, parts: [{ type: 'text' as const, text: 'from the host' }] };
  const { host } = hostOf(bot(model), {
    policy: allowAll(),
    hooks: hooks({ beforeModel: () => ({ action: 'block', modifications: { result: { content } } }) }),
  });
  const events = await say(await host.open('bot'), 'go');
  expect(JSON.stringify(events)).toContain('from the host');
  const blocked = hostOf(bot(model), {
    policy: allowAll(),
    hooks: hooks({ beforeAgent: () => ({ action: 'block', reason: 'not today' }) }),
  });
  const end = endOf(await say(await blocked.host.open('bot'), 'go'));
  expect(end).toMatchObject({ reason: 'failed', data: { reason: 'not today' } });
  expect(model.requests).toEqual([]);
});

test('S3-58 S3-56 they hear the runs of sub-agents too', async () => {
  const { heard, hooks: all } = listener();
  const expert = fromAgent(bot(['x'], { name: 'expert' }));
  const { host } = hostOf(bot([{ calls: [['expert', { request: 'go' }]] }, 'done']), {
    tools: [subagentTool(expert)],
    policy: allowAll(),
    hooks: all,
  });
  await say(await host.open('bot'), 'go');
  expect(heard.filter((point) => point === 'before_agent')).toHaveLength(2);
});

test('S3-58 a session that is opened without a host is given hooks by its context', async () => {
  const { heard, keys, hooks: all } = listener();
  const model = new ScriptedModel([{ calls: [['agents_broken']] }, { error: new Error('down') }, 'fine']);
  const session = await fromAgent(bot(model, { tools: [tool('agents_broken', breaks)] })).open(
    {},
    { app: 'shop', hooks: all },
  );
  for await (const _ of session.stream('go'));
  for await (const _ of session.stream('again'));
  expect(keys).toEqual(payloads);
  expect(heard.filter((point) => point.startsWith('before_tool') || point === 'on_user_message')).toEqual([
    'on_user_message',
    'before_tool agents_broken',
    'on_user_message',
  ]);
});

test('S3-31 S3-32 a host’s credentials: asked for, kept and used; the secret is nowhere else', async () => {
  const kept = new Map<string, unknown>();
  const credentials = {
    save: async (scope: { app: string; userId: string }, name: string, value: unknown) =>
      void kept.set(`${scope.app}/${scope.userId}/${name}`, value),
    load: async (scope: { app: string; userId: string }, name: string) =>
      kept.get(`${scope.app}/${scope.userId}/${name}`),
    delete: async () => {},
  };
  const used: unknown[] = [];
  const call = ownTool('call', async (_, context) => {
    const key = await context.getAuthResponse();
    if (key === undefined) return context.requestCredential({ scheme: 'api_key' });
    used.push(key);
    throw new Error('refused');
  });
  const { host, store, warnings } = hostOf(bot([{ calls: [['call']] }, 'done'], { tools: [call] }), {
    policy: allowAll(),
    credentials,
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const first = await say(session, 'go');
  const { requestId, elicitation } = await only(session);
  expect(elicitation).toBe('auth_required');
  await session.respond(requestId, { kind: 'elicitation', action: 'accept', content: { credential: 'sk-secret' } });
  const second = await say(session, { kind: 'continue' });
  expect([[...kept], used]).toEqual([[['shop/local/call', 'sk-secret']], ['sk-secret']]);
  expect(results(second).call).toBe('failed: refused');
  const log = (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events;
  expect(JSON.stringify([first, second, log, warnings])).not.toContain('sk-secret');
});

test('S0-38 what goes wrong without consequence inside of an agent is told to its host', async () => {
  const model = new ScriptedModel([{ calls: [['agents']] }, 'done']);
  const agent = bot(model, {
    tools: [tool('agents', () => 1, readOnly)],
    toolsets: [{ name: 'remote', tools: () => Promise.reject(new Error('offline')) }],
    afterTool: breaks,
  });
  const { host, warnings } = hostOf(agent, { policy: allowAll() });
  expect(endOf(await say(await host.open('bot'), 'go')).reason).toBe('completed');
  expect([...new Set(warnings)]).toEqual(['toolset remote failed: offline', 'an after_tool hook failed on agents']);
});
