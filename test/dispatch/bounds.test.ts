import { describe, expect, test } from 'vitest';
import type { AnswerLimits } from '../../src/contracts/index.ts';
import type { DispatchExecutorFn } from '../../src/dispatch/index.ts';
import { dispatchAgent, Thought, Tool } from '../../src/dispatch/index.ts';
import { fromAgent } from '../../src/index.ts';
import { collect } from '../runtime/kit.ts';
import { byo, endOf, texts } from './agent-kit.ts';
import { hello, serve } from './battery-kit.ts';
import type { Reply } from './chat-server.ts';
import { asks, delta, words } from './chat-server.ts';
import { call, desk, message } from './kit.ts';

const big = 'z'.repeat(60);
const never = () => new Promise<void>(() => {});
/** Executors that go on whatever they are told. */
const endless: [string, keyof AnswerLimits, DispatchExecutorFn][] = [
  ['reports text', 'text', async (_, { reportMessage }) => forEver(() => reportMessage('m', big))],
  ['reports text of ever new ids', 'text', async (_, { reportMessage }) => forEver((k) => reportMessage(`m${k}`, big))],
  ['reports thoughts', 'thoughts', async (_, { reportThought }) => forEver(() => reportThought('m', big))],
  ['reports nothing, often', 'frames', async (_, { reportMessage }) => forEver(() => reportMessage('m', ''))],
  ['reports calls', 'calls', async (_, { reportToolCall }) => forEver((k) => reportToolCall(`c${k}`, { tool: 't' }))],
  ['reports arguments', 'args', async (_, { reportToolCall }) => forEver(() => reportToolCall('c', { args: { big } }))],
  [
    'reports results',
    'other',
    async (_, { reportToolCall }) => forEver(() => reportToolCall('c', { tool: 't', results: [{ big }] })),
  ],
  ['stores messages', 'text', async (ctx) => forEver((k) => ctx.storeMessage(message(`m${k}`, big)))],
  [
    'stores thoughts',
    'thoughts',
    async (ctx) =>
      forEver((k) => ctx.storeThought(new Thought({ id: `t${k}`, content: big, createdAt: 1, updatedAt: 1 }))),
  ],
  ['stores results', 'other', async (ctx) => forEver((k) => ctx.storeToolCall(call(`c${k}`, 't', {}, [{ big }])))],
  ['stores calls', 'calls', async (ctx) => forEver((k) => ctx.storeToolCall(call(`c${k}`, 't', {})))],
];

async function forEver(step: (k: number) => unknown): Promise<void> {
  // Some catch what is thrown: the dispatch is over all the same.
  for (let k = 0; k < 1000; k++)
    await Promise.resolve(k)
      .then(step)
      .catch(() => {});
  await never();
}

describe('ATT-B9 what one run of an executor brings', () => {
  test.each(endless)(
    'one that %s over answerLimits.%s fails the turn, and is waited for no longer',
    async (_, limit, fn) => {
      const { runner, records } = desk(fn, { answerLimits: { [limit]: 100 } });
      expect(await runner.run()).toMatchObject({
        status: 'nack',
        error: { code: 'E_ANSWER_LIMIT', details: { limit, max: 100 } },
      });
      expect([...records.message, ...records.thought].length).toBeLessThan(2);
      const session = await fromAgent(byo(fn), { answerLimits: { [limit]: 100 } }).open(
        { sessionId: 's', create: true },
        { app: 'a' },
      );
      const events = await collect(session.stream('go'));
      expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_ANSWER_LIMIT' });
      expect(endOf(events)).toMatchObject({ reason: 'failed' });
      expect(texts(events).join('').length).toBeLessThan(130);
    },
  );

  test('each run is counted by itself, and what is as large as allowed passes', async () => {
    const { runner, records } = desk(
      async (ctx, { reportMessage }) => {
        const id = `m${ctx.iteration}`;
        reportMessage(id, 'x'.repeat(100), { isComplete: true });
        await ctx.storeMessage(message(id, 'x'.repeat(100)));
        if (ctx.iteration === 2) ctx.ack();
      },
      { answerLimits: { text: 100 } },
    );
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 3 });
    expect(records.message.size).toBe(3);
  });

  test('bounds that are none are refused', () => {
    expect(() => desk(() => {}, { answerLimits: { text: 0 } })).toThrow(/answerLimits\.text/);
    expect(() => desk(() => {}, { maxResultBytes: -1 })).toThrow(/maxResultBytes/);
  });
});

describe('ATT-B9 what a battery collects', () => {
  const calls = (index: number, args: string) =>
    delta({ tool_calls: [{ index, function: { name: 't', arguments: args } }] });
  test.each<[string, keyof AnswerLimits, Reply]>([
    ['words', 'text', { without_end: delta({ content: big }) }],
    ['thoughts', 'thoughts', { without_end: delta({ reasoning_content: big }) }],
    ['arguments', 'args', { without_end: calls(0, big) }],
    ['pieces', 'frames', { without_end: delta({}) }],
    ['time', 'minutes', { without_end: delta({}) }],
  ])('%s without end are ended at answerLimits.%s, and the server is left', async (_, limit, reply) => {
    await using at = await serve(reply);
    const max = limit === 'minutes' ? 0.0005 : 100;
    const { runner } = desk(at.adapter().executor(), { answerLimits: { [limit]: max } }, hello());
    expect(await runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_ANSWER_LIMIT', details: { limit } } });
    await (await at.server.hanging.opened).left;
  });

  test('in an agent the bounds are those of its host', async () => {
    await using at = await serve({ without_end: delta({ content: big }) });
    const agent = dispatchAgent({ name: 'bot', executor: at.adapter().executor() });
    const session = await fromAgent(agent).open(
      { sessionId: 's', create: true },
      { app: 'a', answerLimits: { text: 100 } },
    );
    const events = await collect(session.stream('hi'));
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_ANSWER_LIMIT' });
    await (await at.server.hanging.opened).left;
  });

  test('a response in one piece is counted, too', async () => {
    await using at = await serve({ json: { choices: [{ message: { content: big + big }, finish_reason: 'stop' }] } });
    const { runner } = desk(at.adapter({ stream: false }).executor(), { answerLimits: { text: 100 } }, hello());
    expect(await runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_ANSWER_LIMIT' } });
  });

  test('CASE-F2 the model is given a result up to maxResultBytes', async () => {
    await using at = await serve(asks(['c1', 'read', '{}']), words('done'));
    const read = new Tool({ name: 'read', description: '', handler: () => '€'.repeat(100_000) });
    const { runner } = desk(at.adapter().executor(), { tools: [read], maxResultBytes: 10_000 }, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack' });
    const shown = at.server.requests[1]?.body.messages.find(({ role }) => role === 'tool');
    expect(String(shown?.content)).toContain('[cut: 300000 bytes in all');
    expect(Buffer.byteLength(String(shown?.content))).toBeLessThan(10_500);
  });
});
