import { describe, expect, test } from 'vitest';
import { fromGoogleAdk } from '../../src/adapters/google-adk/index.ts';
import { servedExecutor } from '../../src/host/connection/server/served-executor.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import { Runner } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { smallAgent } from '../acp/kit.ts';
import { loadAdk, missing, scripted } from '../foreign/adk.ts';

type Store = InMemorySessionService;
type Given = { store?: Store; sessions?: Store };

const bot = () => new LlmAgent({ name: 'bot', model: new ScriptedModel(['hello']) });
const ann = { app: 'shop', userId: 'ann' };

/** Makes what takes a store, and has a session `s` of Ann's made in it. */
const doors: Record<string, (given: Given) => Promise<unknown>> = {
  createHost: (given) =>
    createHost({ ...ann, agents: [bot()], ...given }).open('bot', { sessionId: 's', create: true }),
  fromAgent: async (given) => fromAgent(bot(), given).open({ sessionId: 's', create: true }, ann),
  'what a source is opened within': (given) =>
    fromAgent(bot()).open({ sessionId: 's', create: true }, { ...ann, ...given }),
  async Runner(given) {
    const runner = new Runner({ app: 'shop', agent: bot(), ...given });
    for await (const _ of runner.run({ userId: 'ann', sessionId: 's', input: 'hi' }));
  },
  serveExecutor: async (given) =>
    servedExecutor({ app: 'shop', agents: [fromAgent(bot())], ...given }).open(
      'bot',
      { sessionId: 's', create: true },
      { userId: 'ann' },
    ),
  async fromAcp(given) {
    await using agent = smallAgent(given);
    await using _ = await agent.source.open({ sessionId: 's', create: true }, ann);
  },
};

describe.each(Object.entries(doors))('%s', (_, open) => {
  test.each(['store', 'sessions'])('takes `%s`', async (name) => {
    const store = new InMemorySessionService();
    await open({ [name]: store });
    expect((await store.list(ann)).map(({ id }) => id)).toEqual(['s']);
  });

  test('takes one of the two', async () => {
    const store = new InMemorySessionService();
    const both = (async () => open({ store, sessions: store }))();
    await expect(both).rejects.toMatchObject({ code: 'E_USAGE', message: expect.stringContaining('give store alone') });
    expect(await store.list(ann)).toEqual([]);
  });
});

test.skipIf(missing !== undefined)('fromGoogleAdk takes either, and one of the two', async () => {
  const adk = await loadAdk();
  const agent = new adk.LlmAgent({ name: 'root', model: scripted(adk, ['hello']).model });
  const store = new InMemorySessionService();
  for (const given of [{ store }, { sessions: store }]) {
    const session = await fromGoogleAdk({ adk, agent: agent as never, ...given }).open({}, ann);
    expect((await store.list(ann)).map(({ id }) => id)).toContain(session.id);
  }
  const both = () => fromGoogleAdk({ adk, agent: agent as never, store, sessions: store });
  expect(both).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});
