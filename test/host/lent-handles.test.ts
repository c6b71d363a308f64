import { afterEach, expect, test, vi } from 'vitest';
import { HostedSession } from '../../src/host/hosted/index.ts';
import { bot, door, hostOf, policyOf } from './kit.ts';

const pay = { name: 'pay', description: 'pays', inputSchema: { type: 'object' }, execute: () => 'paid' } as const;

afterEach(() => void vi.restoreAllMocks());

/** Holds a call until it is let go. */
function hold() {
  const [begun, free] = [door(), door()];
  const wait = async () => {
    begun.open();
    await free.opened;
  };
  return { begun: begun.opened, free: free.open, wait };
}

test('NODE9-11 who decides on a question while others that looked into its session give it back is not refused a handle that is closed', async () => {
  const { host, warnings } = hostOf(bot([{ calls: [['pay']] }, 'Paid.']), {
    tools: [pay],
    policy: policyOf({ pay: 'ask' }),
    userId: 'ann',
  });
  const { sessionId } = await host.submit('bot', 'Pay.');
  await host.idle();
  const [open] = await host.approvals.list({ sessionId });
  const requestId = open?.request.requestId ?? '';
  const place = { sessionId, userId: 'ann', agent: 'bot' };
  const { pending, standing } = HostedSession.prototype;
  const [looks, asks] = [hold(), hold()];
  vi.spyOn(HostedSession.prototype, 'pending').mockImplementationOnce(async function (this: HostedSession) {
    await looks.wait();
    return pending.call(this);
  });
  const looking = host.approvals.get(requestId, place);
  await looks.begun;
  // The session is open: whether it is still there is asked before it is used.
  vi.spyOn(HostedSession.prototype, 'standing').mockImplementationOnce(async function (this: HostedSession) {
    await asks.wait();
    return standing.call(this);
  });
  const deciding = host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'ann' }, ...place });
  await asks.begun;
  looks.free();
  expect((await looking)?.request.requestId).toBe(requestId);
  asks.free();
  expect(await deciding).toMatchObject({ status: 'settled' });
  await host.idle();
  expect([await host.unfinished(), warnings]).toEqual([[], []]);
  await host.close();
});
