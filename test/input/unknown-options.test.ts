import { describe, expect, test } from 'vitest';
import { toStrictSchema } from '../../src/adapters/schema/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { checkStream, createGrammarChecker } from '../../src/contracts/index.ts';
import { dispatchAgent, inMemoryCallbacks, Records, TurnRunner } from '../../src/dispatch/index.ts';
import { createHost, LlmAgent, LoopAgent, rulePolicy, SequentialAgent } from '../../src/index.ts';
import { InMemorySessionService, verifyLog } from '../../src/runtime/index.ts';
import { lyingExecutor, ScriptedModel } from '../../src/testing/index.ts';

const agent = () => new LlmAgent({ name: 'bot', model: new ScriptedModel(['hi']) });
const made = () => createHost({ app: 'shop', agents: [agent()], store: new InMemorySessionService(), userId: 'ann' });
const executorCallback = () => {};
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
    verifyLog: () => verifyLog([], plain({ roles: [] })),
    toStrictSchema: () => toStrictSchema({ type: 'object' }, plain({ roles: [] })),
    createGrammarChecker: () => createGrammarChecker(plain({ roles: [] })),
    checkStream: () => checkStream([], plain({ roles: [] })),
    TurnRunner: () => new TurnRunner(plain({ ...inMemoryCallbacks(new Records()), executorCallback, watchdogs: {} })),
    'TurnRunner.run': async () => {
      const runner = new TurnRunner({ ...inMemoryCallbacks(new Records()), executorCallback });
      throw (await runner.run(plain({ roles: [] }))).error;
    },
    'TurnRunner, its watchdog': () =>
      new TurnRunner({ ...inMemoryCallbacks(new Records()), executorCallback, watchdog: plain({ roles: 1 }) }),
    'dispatchAgent, its watchdog': () =>
      dispatchAgent({ name: 'own', executor: executorCallback, watchdog: plain({ roles: 1 }) }),
    lyingExecutor: () => lyingExecutor(plain({ calls: [], roles: [] })),
    'lyingExecutor, its lies': () => lyingExecutor({ calls: [], lies: plain({ roles: [] }) }),
    'store.list': () => new InMemorySessionService().list({ app: 'shop' }, plain({ roles: [] })),
  };

  test.each(Object.entries(places))('%s', async (_, call) => {
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringMatching(/ is not known; /),
    });
  });

  test('sessions().delete takes the id alone: whose it is is not said behind it', async () => {
    const host = made();
    const provider = host.sessions();
    await provider.create({ id: 's' });
    const deleting = provider.delete as (...given: unknown[]) => Promise<void>;
    await expect(deleting('s', { userId: 'bo' })).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
      message: expect.stringContaining('sessions(userId)'),
    });
    expect(await provider.load('s')).toBeDefined();
    await deleting('s');
    expect(await provider.load('s')).toBeUndefined();
  });

  test('a checker may be given as the options of the next one', () => {
    expect(checkStream([], createGrammarChecker() as never)).toMatchObject([{ rule: 2 }]);
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
