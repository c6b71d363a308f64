import { describe, expect, test } from 'vitest';
import { errorResult } from '../../src/gate/index.ts';
import { connect, kinds, sessionOf, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const pay = { prompt: 'call pay {"amount": 5}' };
const allow = { action: 'accept', content: { decision: 'allow' } } as const;

describe.each(kinds)('%s: approval inside a called agent', (kind) => {
  test('accepted: it runs once, and the question says what would happen', async () => {
    await using shop = await openShop();
    const asked: { message: string; requestedSchema?: unknown }[] = [];
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit(question) {
          expect(shop.runs).toEqual([]);
          asked.push(question);
          return allow;
        },
      },
    );
    const result = await client.call('puppet', pay);
    expect(textOf(result)).toBe('got {"content":"paid 5"}');
    expect(result.isError).toBeFalsy();
    expect(shop.runs).toEqual([5]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.message).toBe('Run pay? (The tool may change something.)\n\npays 5 euro');
    expect(asked[0]?.requestedSchema).toMatchObject({ required: ['decision'] });
  });

  test.each([
    ['declined', { action: 'decline' }, 'declined'],
    ['cancelled', { action: 'cancel' }, 'cancelled'],
    ['accepted without a decision', { action: 'accept', content: {} }, 'the answer did not say allow'],
    ['accepted with a deny', { action: 'accept', content: { decision: 'deny' } }, 'declined'],
    [
      'accepted with nonsense',
      { action: 'accept', content: { decision: 'yes', allow: true } },
      'the answer did not say allow',
    ],
  ] as const)('%s: it does not run, and caller and agent learn why', async (_, reply, why) => {
    await using shop = await openShop();
    await using client = await connect(kind, { url: shop.url }, { onElicit: () => reply });
    const result = await client.call('puppet', pay);
    expect(shop.runs).toEqual([]);
    expect(textOf(result)).toContain(why);
    expect(textOf(result)).toContain('Denied or cancelled: pay.');
  });

  test('whoever answers elsewhere goes on within the limits of the call', async () => {
    await using shop = await openShop({ mcp: { limits: { steps: 1 } } });
    await using client = await connect(kind, { url: shop.url });
    await client.call('puppet', pay);
    const [open] = await shop.host.approvals.list();
    const { requestId = '', sessionId = '' } = open?.request ?? {};
    const session = await shop.host.open('puppet', { sessionId });
    const ended = (async () => {
      for await (const event of session.events({ live: true })) if (event.type === 'stream_end') return event.reason;
      return 'never';
    })();
    await shop.host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
    expect([await ended, shop.runs]).toEqual(['max_turns', [5]]);
  });

  test('F38: a client that cannot be asked learns the id and where to settle it; then it runs once', async () => {
    await using shop = await openShop();
    await using client = await connect(kind, { url: shop.url });
    const result = await client.call('puppet', pay);
    expect(result.isError).toBe(true);
    const [open] = await shop.host.approvals.list();
    const id = open?.request.requestId ?? '';
    expect(textOf(result)).toContain('the client cannot ask its user');
    const digest = open?.request.approval?.previewDigest;
    expect(textOf(result)).toContain(`coxswain approvals approve ${id} --digest ${digest}`);
    expect(result._meta?.['coxswain/open']).toEqual([id]);
    expect(shop.runs).toEqual([]);
    // Words never approve, and do not get lost in silence.
    const again = await client.call('puppet', { prompt: 'allow', session_id: sessionOf(result) });
    expect(again.isError).toBe(true);
    expect(textOf(again)).toContain('was not delivered');
    expect(shop.runs).toEqual([]);
    await shop.host.approvals.decide(id, { kind: 'approve' }, { by: { id: 'local' } });
    await expect
      .poll(() => client.call('puppet', { prompt: 'count', session_id: sessionOf(result) }).then(textOf))
      .toContain('said');
    expect(shop.runs).toEqual([5]);
  });

  test('F38: a client that cannot be asked, and nobody else can be: denied at once', async () => {
    await using shop = await openShop({ mcp: { unanswerable: 'deny' } });
    await using client = await connect(kind, { url: shop.url });
    const result = await client.call('puppet', pay);
    expect(textOf(result)).toContain('the client cannot ask its user');
    expect(textOf(result)).toContain('Denied or cancelled: pay.');
    expect(await shop.host.approvals.list()).toEqual([]);
    expect(shop.runs).toEqual([]);
  });

  test('F38: a client that answers "method not found" to the question', async () => {
    await using shop = await openShop();
    await using client = await connect(kind, { url: shop.url }, { pretends: true });
    const outcome = await client.call('puppet', pay).then(textOf, (error: Error) => `thrown: ${error.message}`);
    // The 2026 client finds out by itself that it has nobody to ask.
    if (kind === 'v2') expect(outcome).toMatch(/^thrown: /);
    else expect(outcome).toContain('the client could not ask its user');
    expect(await shop.host.approvals.list()).toHaveLength(1);
    expect(shop.runs).toEqual([]);
  });

  test('settled elsewhere while the client thinks: the first word holds, it runs once', async () => {
    await using shop = await openShop();
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        async onElicit() {
          const [open] = await shop.host.approvals.list();
          await shop.host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
          return { action: 'decline' };
        },
      },
    );
    expect(textOf(await client.call('puppet', pay))).toBe('got {"content":"paid 5"}');
    expect(shop.runs).toEqual([5]);
  });

  test('two calls in one step are asked about one by one', async () => {
    await using shop = await openShop();
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit: ({ message }) => (message.includes('pays 2') ? { action: 'decline' } : allow),
      },
    );
    const result = await client.call('puppet', { prompt: 'call pay {"amount": 1} pay {"amount": 2}' });
    expect(shop.runs).toEqual([1]);
    expect(textOf(result)).toContain('paid 1');
    expect(textOf(result)).toContain('Denied or cancelled: pay.');
  });

  test('the requester may not approve: the client is told who may', async () => {
    const policy = { evaluate: () => ({ outcome: 'ask', approvers: { notRequester: true } }) as const };
    await using shop = await openShop({ host: { policy } });
    let asked = 0;
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit() {
          asked += 1;
          return allow;
        },
      },
    );
    const result = await client.call('puppet', pay);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('the requester may not approve');
    expect({ asked, runs: shop.runs }).toEqual({ asked: 0, runs: [] });
  });
});

test.each(kinds)(
  'NEW-M3 %s: a call with the session alone gets what came of a call that was settled elsewhere',
  async (kind) => {
    await using shop = await openShop();
    await using client = await connect(kind, { url: shop.url });
    const asked = await client.call('puppet', pay);
    const session_id = sessionOf(asked);
    expect(textOf(asked)).toContain('call puppet again with that session_id alone to get what came of it');
    // While it waits it is said again, with nothing about a message.
    const waiting = textOf(await client.call('puppet', { session_id }));
    expect(waiting).toContain('waits for an answer to an earlier question');
    expect(waiting).not.toContain('not delivered');
    const [open] = await shop.host.approvals.list();
    await shop.host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
    await shop.host.idle();
    for (const args of [{ session_id }, { session_id, prompt: '' }]) {
      const result = await client.call('puppet', args);
      expect([result.isError ?? false, textOf(result)]).toEqual([false, 'got {"content":"paid 5"}']);
    }
    expect(shop.runs).toEqual([5]);
    const nothing = await client.call('puppet', {});
    expect([nothing.isError, textOf(nothing)]).toEqual([true, expect.stringContaining('prompt')]);
  },
);

test.each(kinds)('%s: where two must say yes, one is asked once, and the other settles it elsewhere', async (kind) => {
  const policy = { evaluate: () => ({ outcome: 'ask', approvers: { quorum: 2 } }) as const };
  await using shop = await openShop({ host: { policy } });
  let asked = 0;
  await using client = await connect(
    kind,
    { url: shop.url },
    {
      onElicit() {
        asked += 1;
        return allow;
      },
    },
  );
  const result = await client.call('puppet', pay);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('others must approve too');
  expect({ asked, runs: shop.runs }).toEqual({ asked: 1, runs: [] });
  const [open] = await shop.host.approvals.list();
  // Policy does not say who else: whoever holds the session names them.
  await using session = await shop.host.open('puppet', { sessionId: open?.request.sessionId ?? '' });
  await session.respond(open?.request.requestId ?? '', { kind: 'approve', by: { id: 'anna' } });
  for await (const _ of session.stream({ kind: 'continue' }));
  expect(shop.runs).toEqual([5]);
});

test.each(['v2-2025', 'v1'] as const)('%s: F38: nobody answers in time: denied, and the run goes on', async (kind) => {
  await using shop = await openShop({ mcp: { answerMs: 200 } });
  await using client = await connect(kind, { url: shop.url }, { onElicit: () => new Promise(() => {}) });
  const result = await client.call('puppet', pay);
  expect(textOf(result)).toContain('nobody answered in time');
  expect(shop.runs).toEqual([]);
  expect(await shop.host.approvals.list()).toEqual([]);
});

test.each(['v2-2025', 'v1'] as const)(
  '%s: cancelled while its question is open: nothing runs, nothing stays open',
  async (kind) => {
    await using shop = await openShop();
    const controller = new AbortController();
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit() {
          controller.abort();
          return new Promise(() => {});
        },
      },
    );
    await expect(client.call('puppet', pay, { signal: controller.signal })).rejects.toThrow();
    await expect.poll(() => shop.host.approvals.list()).toEqual([]);
    expect(shop.runs).toEqual([]);
  },
);

describe.each(kinds)('%s: a caller learns what ran and what is open', (kind) => {
  test('a call ran before the question that nobody could be asked', async () => {
    await using shop = await openShop();
    shop.waiting.release();
    await using client = await connect(kind, { url: shop.url });
    const result = await client.call('puppet', { prompt: 'call wait {} pay {"amount": 5}' });
    expect(textOf(result)).toContain('Ran: wait.');
    expect(textOf(result)).not.toContain('Nothing was run');
    expect(result._meta?.['coxswain/calls']).toEqual([
      { callId: expect.any(String), name: 'wait', outcome: 'ran' },
      { callId: expect.any(String), name: 'pay', outcome: 'waiting' },
    ]);
    // So does whoever speaks to the conversation meanwhile.
    const again = await client.call('puppet', { prompt: 'say hello', session_id: sessionOf(result) });
    expect(textOf(again)).toMatch(/was not delivered[\s\S]*Ran: wait\./);
    const [open] = await shop.host.approvals.list();
    expect(result._meta?.['coxswain/open']).toEqual([open?.request.requestId]);
  });

  test('a run that is stopped by a limit says what it had run', async () => {
    await using shop = await openShop({ mcp: { limits: { steps: 1 } } });
    shop.waiting.release();
    await using client = await connect(kind, { url: shop.url });
    const result = await client.call('puppet', { prompt: 'call wait {}' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('Ran: wait.');
  });

  test('a call whose outcome is unknown is named, though the agent went on', async () => {
    const unknown = { name: 'send', inputSchema: { type: 'object' }, annotations: { readOnly: true } };
    const send = { ...unknown, description: 'Sends.', execute: () => errorResult('interrupted', 'it was cut off') };
    await using shop = await openShop({ host: { tools: [send] } });
    await using client = await connect(kind, { url: shop.url });
    const result = await client.call('puppet', { prompt: 'call send {}' });
    expect(textOf(result)).toContain('Begun, and may have run: send.');
  });
});

test.each(['v2-2025', 'v1'] as const)(
  '%s: one question answered, the next cannot be: only that one is open',
  async (kind) => {
    await using shop = await openShop();
    let asked = 0;
    await using client = await connect(
      kind,
      { url: shop.url },
      {
        onElicit() {
          asked += 1;
          if (asked === 1) return allow;
          throw new Error('the window is closed');
        },
      },
    );
    const result = await client.call('puppet', { prompt: 'call pay {"amount": 1} pay {"amount": 2}' });
    expect(asked).toBe(2);
    const open = await shop.host.approvals.list();
    expect(result._meta?.['coxswain/open']).toEqual(open.map(({ request }) => request.requestId));
    expect(open).toHaveLength(1);
    expect(textOf(result).match(/approvals approve/g)).toHaveLength(1);
    expect(shop.runs).toEqual([]);
    expect(textOf(result)).toContain('Not begun yet: pay.');
    await shop.host.approvals.decide(open[0]?.request.requestId ?? '', { kind: 'deny' }, { by: { id: 'local' } });
    await expect.poll(() => shop.runs).toEqual([1]);
  },
);
