import { describe, expect, test } from 'vitest';
import { allowAll } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, hostOf, only, say, tool } from './kit.ts';

describe('calls side by side', () => {
  test('CASE-P4 of those that write one key the last to end counts, and exclusive ones write in call order', async () => {
    for (const [exclusive, expected] of [
      [false, 'a'],
      [true, 'b'],
    ] as const) {
      const ended = Promise.withResolvers<void>();
      const annotations = { annotations: { exclusive } };
      const a = tool(
        'a',
        async (_, { state }) => {
          if (!exclusive) await ended.promise;
          state.set('k', 'a');
        },
        annotations,
      );
      const b = tool('b', (_, { state }) => void state.set('k', 'b'), annotations);
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
