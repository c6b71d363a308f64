import { expect, test } from 'vitest';
import { createView } from '../../src/index.ts';
import { all, bot, hostOf, notingTool, policyOf, say } from './kit.ts';

test('APP-B7 a view shows the arguments that ran beside those that were asked for', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', { eur: 80 }]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const [question] = (await session.pending()).filter(({ kind }) => kind !== 'tool');
  await session.respond(question?.requestId ?? '', { kind: 'approve', args: { eur: 60 } });
  await say(session, { kind: 'continue' });
  const view = createView();
  for await (const event of session.events()) view.apply(event);
  expect(pay.runs).toEqual([{ eur: 60 }]);
  expect([...view.toolCalls.values()]).toMatchObject([{ args: { eur: 80 }, argsRun: { eur: 60 }, status: 'done' }]);
});

/** What a chat shows, line by line. */
function linesOf(view: ReturnType<typeof createView>): string[] {
  return view.items.map((item) => {
    if (item.type === 'tool_call') return `${item.call.name} ${item.call.status}`;
    const [part] = item.message.content;
    return `${item.message.role}: ${part?.type === 'text' ? part.text : part?.type}`;
  });
}

test('APP-F9 a view has messages and calls in the order of the conversation, live and replayed', async () => {
  const script = [
    { deltas: ['let me ', 'see'], calls: [['look', {}]] },
    { deltas: ['and ', 'pay'], calls: [['pay', {}]] },
    'done',
  ];
  const { host } = hostOf(bot(script as never), {
    tools: [notingTool('look').tool, notingTool('pay').tool],
    policy: policyOf({}),
  });
  const session = await host.open('bot');
  const live = createView();
  for await (const event of session.stream('go')) live.apply(event);
  const replayed = createView();
  for await (const event of session.events()) replayed.apply(event);
  const lines = ['user: go', 'agent: let me see', 'look done', 'agent: and pay', 'pay done', 'agent: done'];
  expect([linesOf(live), linesOf(replayed)]).toEqual([lines, lines]);
  const [, first] = live.items;
  expect(first?.type === 'message' && first.message).toBe(live.messages[1]);
});

test('APP-F9 what was taken back stands in no view', async () => {
  const { host } = hostOf(bot(['one', { calls: [['look', {}]] }, 'two']), {
    tools: [notingTool('look').tool],
    policy: policyOf({}),
  });
  const session = await host.open('bot');
  const view = createView();
  for (const event of await say(session, 'first')) view.apply(event);
  const kept = linesOf(view);
  const through = (await all(session.events())).at(-1)?.seq ?? 0;
  for (const event of await say(session, 'second')) view.apply(event);
  expect(linesOf(view)).toEqual([...kept, 'user: second', 'look done', 'agent: two']);
  view.apply({ ...base(session.id), type: 'custom', kind: 'rewound', data: { through } } as never);
  expect(linesOf(view)).toEqual(kept);
});

const base = (sessionId: string) => ({
  id: crypto.randomUUID(),
  sessionId,
  streamId: '',
  timestamp: '2026-01-01T00:00:00Z',
});
