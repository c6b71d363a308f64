import { describe, expect, test } from 'vitest';
import { allowAll, InMemorySessionService } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, endOf, hostOf, only, ownTool, refusal, say, tool } from './kit.ts';

describe('calls side by side', () => {
  test('CASE-P4 of those that write one key the last to end counts, and exclusive ones write in call order', async () => {
    for (const [exclusive, expected] of [
      [false, 'a'],
      [true, 'b'],
    ] as const) {
      const ended = Promise.withResolvers<void>();
      const annotations = { annotations: { exclusive } };
      const a = ownTool(
        'a',
        async (_, { state }) => {
          if (!exclusive) await ended.promise;
          state.set('k', 'a');
        },
        annotations,
      );
      const b = ownTool('b', (_, { state }) => void state.set('k', 'b'), annotations);
      const model = new ScriptedModel([{ calls: [['a'], ['b']] }, 'end']);
      const { host } = hostOf(bot(model, { instruction: '{k?}', tools: [a, b] }), { policy: allowAll() });
      const session = await host.open('bot');
      for await (const event of session.stream('go')) {
        if (event.type === 'tool_response' && event.name === 'b') ended.resolve();
      }
      expect(model.requests[1]?.systemInstruction).toBe(expected);
    }
  });
});

describe('a settlement', () => {
  test('CASE-S4 of a call that has a result says so', async () => {
    const model = new ScriptedModel([{ calls: [['later']] }, 'end']);
    const { host } = hostOf(bot(model, { tools: [tool('later')] }), { policy: allowAll() });
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    const result = { content: [{ type: 'text' as const, text: 'done' }] };
    const given = await session.respond(requestId, { kind: 'result', result, by: { id: 'ann' } });
    expect(given).toMatchObject({ status: 'settled' });
    const late = await session.respond(requestId, { kind: 'approve' });
    expect(late).toMatchObject({ status: 'already_settled', outcome: 'result', by: 'ann' });
  });
});

describe('ATT-8 a store that refuses what it has done', () => {
  /** Whoever stands in front of it makes each append twice once `on` is set. */
  class Twice extends InMemorySessionService {
    on = false;
    override async append(...given: Parameters<InMemorySessionService['append']>) {
      if (this.on) await super.append(...given);
      return super.append(...given);
    }
  }

  test('is given the words of a turn once, and the turn is refused', async () => {
    const store = new Twice();
    const { host } = hostOf(bot(['never']), { store });
    const session = await host.open('bot', { sessionId: 's', create: true });
    store.on = true;
    expect((await refusal(all(session.stream('go')))).code).toBe('E_SESSION_CONFLICT');
    const { events = [] } = (await store.get({ app: 'shop', userId: 'local', id: 's' })) ?? {};
    expect(events.filter(({ content }) => JSON.stringify(content ?? '').includes('"go"'))).toHaveLength(1);
  });

  test('is given an update once, which holds', async () => {
    const store = new Twice();
    const { host } = hostOf(bot(['hi']), { store });
    const session = await host.open('bot', { sessionId: 's', create: true });
    expect(endOf(await say(session, 'go')).reason).toBe('completed');
    const key = { app: 'shop', userId: 'local', id: 's' };
    const before = (await store.get(key))?.events.length ?? 0;
    store.on = true;
    await session.update({ permissionMode: 'plan' });
    expect((await store.get(key))?.events).toHaveLength(before + 1);
    expect((await session.standing?.())?.permissionMode).toBe('plan');
  });
});
