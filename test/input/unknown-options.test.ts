import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost, LlmAgent, LoopAgent, rulePolicy, SequentialAgent } from '../../src/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const agent = () => new LlmAgent({ name: 'bot', model: new ScriptedModel(['hi']) });
const made = () =>
  createHost({ app: 'shop', agents: [agent()], sessions: new InMemorySessionService(), userId: 'ann' });
/** What plain JavaScript may write. */
const plain = (options: object): never => options as never;

describe('NEW-D8 an option that is not known is refused wherever options are taken', () => {
  const places: Record<string, () => unknown> = {
    createHost: () => createHost(plain({ app: 'shop', agents: [agent()], approvals: [] })),
    'host.open': () => made().open('bot', plain({ roles: [] })),
    'host.audit': () => made().audit('s', plain({ roles: [] })),
    'host.sessions().create': () =>
      made()
        .sessions()
        .create(plain({ roles: [] })),
    'approvals.list': () => made().approvals.list(plain({ roles: [] })),
    'approvals.decide': () =>
      made().approvals.decide('q', { kind: 'approve' }, plain({ by: { id: 'ann' }, roles: [] })),
    'session.stream': async () => {
      for await (const _ of (await made().open('bot')).stream('hi', plain({ roles: [] })));
    },
    'session.events': async () => {
      for await (const _ of (await made().open('bot')).events(plain({ roles: [] })));
    },
    'session.abort': async () => (await made().open('bot')).abort(plain({ roles: 'x' })),
    LlmAgent: () => new LlmAgent(plain({ name: 'bot', roles: [] })),
    SequentialAgent: () => new SequentialAgent(plain({ name: 'all', subAgents: [agent()], roles: [] })),
    LoopAgent: () => new LoopAgent(plain({ name: 'all', subAgents: [agent()], maxIterations: 1, roles: [] })),
    rulePolicy: () => rulePolicy([], plain({ roles: [] })),
    openSqlite: () => openSqlite(':memory:', plain({ roles: [] })),
    'store.list': () => new InMemorySessionService().list({ app: 'shop' }, plain({ roles: [] })),
  };

  test.each(Object.entries(places))('%s', async (_, call) => {
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringMatching(/ is not known; /),
    });
  });

  test('the name that was probably meant is in the message', async () => {
    await expect(made().open('bot', plain({ user: 'ann' }))).rejects.toThrow(
      'open: options.user is not known; did you mean userId?',
    );
    await expect(made().open('bot', plain({ sesionId: 's' }))).rejects.toThrow('write sessionId');
  });
});

test('NEW-D8 a session that is not there is named with the app and the user that were looked under', async () => {
  const message = /app shop has no session s of user ann/;
  const host = made();
  await expect(host.open('bot', { sessionId: 's' })).rejects.toThrow(message);
  await expect(host.audit('s')).rejects.toThrow(message);
  await expect(host.audit('s', { userId: 'bo' })).rejects.toThrow('app shop has no session s of user bo');
});
