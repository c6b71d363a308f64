import { describe, expect, test } from 'vitest';
import { createView, hooks } from '../../src/index.ts';
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

describe('ATK3-15 a view shows what a yes lets run', () => {
  const pays = (approvers?: object) => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 7 }]] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: (approvers ? { outcome: 'ask', approvers } : 'ask') as never }),
      ...(approvers
        ? {}
        : { hooks: hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args: { eur: 7000 } } }) }) }),
    });
    return { host, pay };
  };
  const shownOf = ({ toolCalls }: ReturnType<typeof createView>) =>
    [...toolCalls.values()].map(({ args, argsAsked, argsRun, status }) => ({ args, argsAsked, argsRun, status }));
  const asked = { args: { eur: 7 }, argsAsked: { eur: 7000 }, argsRun: undefined, status: 'requested' };

  test('live: a hook has changed the arguments; what has run is no question', async () => {
    const { host, pay } = pays();
    const session = await host.open('bot');
    const view = createView();
    for await (const event of session.stream('go')) {
      view.apply(event);
      // Before the end of the stream says it: a run may wait for the answer.
      if (event.type === 'elicitation_request') expect(shownOf(view)).toEqual([asked]);
    }
    expect(shownOf(view)).toEqual([asked]);
    expect([...view.approvals.values()]).toMatchObject([{ args: { eur: 7000 } }]);
    const [{ requestId = '' } = {}] = await session.pending();
    await session.respond(requestId, { kind: 'approve' });
    for await (const event of session.events()) view.apply(event);
    expect(shownOf(view)).toEqual([{ ...asked, argsAsked: undefined }]);
    for await (const event of session.stream({ kind: 'continue' })) view.apply(event);
    expect(pay.runs).toEqual([{ eur: 7000 }]);
    expect(shownOf(view)).toEqual([{ ...asked, argsAsked: undefined, argsRun: { eur: 7000 }, status: 'done' }]);
  });

  test('events of an earlier version, which say it at the end of the stream alone', async () => {
    const { host } = pays();
    const view = createView();
    for (const event of await say(await host.open('bot'), 'go')) {
      const { args: _, ...former } = event as typeof event & { args?: unknown };
      view.apply(event.type === 'elicitation_request' ? (former as typeof event) : event);
    }
    expect(shownOf(view)).toEqual([asked]);
  });

  test('replayed: what is pending says it, a vote with other arguments, and one with the first again', async () => {
    const { host } = pays({ roles: ['boss'], quorum: 3 });
    const session = await host.open('bot');
    await say(session, 'go');
    const view = createView();
    for (const [by, eur, shown] of [
      ['bert', 7000, { eur: 7000 }],
      ['cleo', 7, undefined],
    ] as const) {
      const [open] = await session.pending();
      const answer = { kind: 'approve', args: { eur }, previewDigest: open?.approval?.previewDigest ?? '' } as const;
      await host.approvals.decide(open?.requestId ?? '', answer, { by: { id: by, roles: ['boss'] } });
      for await (const event of session.events()) view.apply(event);
      view.ask(await session.pending());
      expect(shownOf(view)).toEqual([{ ...asked, argsAsked: shown }]);
    }
  });

  test('an answer closes the question, a rewind behind it opens it again', async () => {
    const { host } = pays();
    const session = await host.open('bot');
    const view = createView();
    for (const event of await say(session, 'go')) view.apply(event);
    const through = (await all(session.events())).at(-1)?.seq ?? 0;
    const [{ requestId = '' } = {}] = await session.pending();
    await session.respond(requestId, { kind: 'deny' });
    for await (const event of session.events()) view.apply(event);
    for (const event of await say(session, { kind: 'continue' })) view.apply(event);
    expect(shownOf(view)).toEqual([{ ...asked, argsAsked: undefined, status: 'failed' }]);
    view.apply({ ...base(session.id), type: 'custom', kind: 'rewound', data: { through } } as never);
    expect(shownOf(view)).toEqual([asked]);
  });

  test('a call that ends closes it, too: nobody has answered', async () => {
    const { host } = pays();
    const view = createView();
    const events = await say(await host.open('bot'), 'go');
    // As a page has it that has read history: the question is no event.
    for (const event of events) if (event.type !== 'elicitation_request') view.apply(event);
    expect(shownOf(view)).toEqual([asked]);
    const call = events.find(({ type }) => type === 'tool_request') as { requestId: string } | undefined;
    const members = { requestId: call?.requestId, name: 'pay', content: [], isError: true, errorType: 'timeout' };
    view.apply({ ...base('s'), type: 'tool_response', ...members } as never);
    expect(shownOf(view)).toEqual([{ ...asked, argsAsked: undefined, status: 'failed' }]);
  });

  test('arguments of a question that is no approval are none of it', async () => {
    const view = createView();
    const call = { type: 'tool_request', requestId: 'c', name: 'pay', args: { eur: 7 }, handledBy: 'agent' };
    view.apply({ ...base('s'), ...call } as never);
    const members = { requestId: 'c#1', callId: 'c', kind: 'clarification', message: '?', args: { eur: 1 } };
    view.apply({ ...base('s'), type: 'elicitation_request', ...members } as never);
    view.ask([members, { requestId: 'c#policy', callId: 'c', args: { eur: 1 } }]);
    expect(shownOf(view)).toEqual([{ ...asked, argsAsked: undefined }]);
    expect(() => view.ask('c' as never)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });
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

test('a session that is updated between two turns does not run for it', () => {
  const view = createView();
  const base = { timestamp: '2026-11-30T00:00:00.000Z', sessionId: 's', streamId: 't' };
  view.apply({ ...base, id: 'a', seq: 1, type: 'session_update', config: { permissionMode: 'plan' } });
  expect(view.status).toBe('idle');
  view.apply({ ...base, id: 'b', seq: 2, type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello.' }] });
  view.apply({ ...base, id: 'c', seq: 3, type: 'session_update', stateDelta: { paid: true } });
  expect(view.status).toBe('running');
  view.apply({ ...base, id: 'd', seq: 4, type: 'stream_end', reason: 'completed', data: {} });
  view.apply({ ...base, id: 'e', seq: 5, type: 'session_update', config: { permissionMode: null } });
  expect(view.status).toBe('completed');
});
