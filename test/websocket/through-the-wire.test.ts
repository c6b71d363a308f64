import { expect, test } from 'vitest';
import { bot, hostOf, notingTool, policyOf, results, slowTool } from '../host/kit.ts';
import { all, client, metric, serving } from './kit.ts';
import { Raw } from './raw.ts';

// What a client asks for reaches the session as it was asked: tests of members that a copy on the way could drop.

test('an abort of one call ends that call; the others and the turn go on', async () => {
  const [slow, other] = [slowTool('slow'), slowTool('other')];
  const { host } = hostOf(
    bot([
      {
        calls: [
          ['slow', {}],
          ['other', {}],
        ],
      },
      'done',
    ]),
    {
      tools: [slow.tool, other.tool],
      policy: policyOf({ slow: 'allow', other: 'allow' }),
    },
  );
  const remote = await client(await serving(host));
  const session = await remote.open('bot', { sessionId: 's', create: true });
  const seen = all(session.stream('both'));
  const requestId = (await slow.started).callId;
  await other.started;
  await session.abort({ requestId, reason: 'too slow' });
  other.finish('in time');
  const events = await seen;
  expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  expect(results(events)).toEqual({ slow: 'interrupted: too slow', other: 'in time' });
});

test('a snapshot of a client is refused where it is sent, not left out', async () => {
  const { host } = hostOf(bot(['hello']));
  const raw = await Raw.ready((await serving(host)).url);
  const asked = raw.request('session/open', { agent: 'bot', create: true, snapshot: { events: [] } });
  expect((await asked).error?.data).toMatchObject({ code: 'E_CEILING' });
});

test('an update to a model that clients may not choose is refused; one that takes the choice back is not', async () => {
  const { host } = hostOf(bot(['hello']));
  const session = await (await client(await serving(host))).open('bot', { sessionId: 's', create: true });
  await expect(session.update({ model: 'dear-one' })).rejects.toMatchObject({ code: 'E_CEILING' });
  expect(await session.update({ model: null })).toEqual({ effective: 'next_step' });
});

test('what a message does to open questions is the client’s to say', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'again']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await (await client(await serving(host))).open('bot', { sessionId: 's', create: true });
  await all(session.stream('pay'));
  const [open] = await session.pending();
  const held = all(session.stream('something else', { whilePending: 'hold' }));
  await expect(held).rejects.toThrow(`answer first: ${open?.requestId} (of call ${open?.callId})`);
  expect((await session.pending()).map(({ requestId }) => requestId)).toEqual([open?.requestId]);
});

test('a decision on what is not open names it', async () => {
  const { host } = hostOf(bot(['hello']));
  const { approvals } = await client(await serving(host));
  await expect(approvals.decide('call-9#policy', { kind: 'approve' })).rejects.toMatchObject({
    code: 'E_UNKNOWN_REQUEST',
    details: { requestId: 'call-9#policy' },
  });
});

test('a session that was opened for one decision is held no longer than its run: it counts as idle then', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const server = await serving(host);
  const session = await host.open('bot', { userId: 'anna', sessionId: 's', create: true });
  for await (const _ of session.stream('pay'));
  const { approvals } = await client(server, 'anna');
  const [open] = await approvals.list();
  expect(await metric(server, 'coxswain_sessions_open')).toBe(0);
  await approvals.decide(open?.request.requestId ?? '', { kind: 'approve' });
  await expect.poll(() => pay.runs.length).toBe(1);
  await expect.poll(() => metric(server, 'coxswain_sessions_idle')).toBe(1);
});
