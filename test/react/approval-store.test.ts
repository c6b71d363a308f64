import { expect, onTestFinished, test, vi } from 'vitest';
import type { RemoteApproval, RemoteHost } from '../../src/entries/client.ts';
import { approvalStore } from '../../src/entries/client.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from '../websocket/kit.ts';

async function asking(options = {}) {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, { calls: [['pay', {}]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const server = await serving(host, options);
  const session = await (await client(server)).open('bot', { sessionId: 's', create: true });
  await all(session.stream('go'));
  return { pay, host, server, session };
}

function following(store: ReturnType<typeof approvalStore>) {
  onTestFinished(store.subscribe(() => {}));
  return (count: number) => expect.poll(() => store.getSnapshot().approvals.length).toBe(count);
}

test('approvalStore shows what is open, takes an answer for what was shown, and shows the next question', async () => {
  const { pay, server } = await asking();
  const store = approvalStore(client(server));
  const comesTo = following(store);
  await comesTo(1);
  const [first] = store.getSnapshot().approvals;
  if (!first) throw new Error('nothing is open');
  expect([first.agent, first.userId, first.request.name]).toEqual(['bot', 'anna', 'pay']);
  expect(await store.decide(first, { kind: 'approve' })).toMatchObject({ status: 'settled' });
  await expect.poll(() => store.getSnapshot().approvals[0]?.request.requestId).not.toBe(first.request.requestId);
  await comesTo(1);
  expect(pay.runs).toHaveLength(1);
  expect(await store.decide(first, { kind: 'approve' })).toBeUndefined();
  expect(store.getSnapshot().error?.code).toBe('E_UNKNOWN_REQUEST');
});

/** Counts what a client asks its server for. */
async function counted(remote: ReturnType<typeof client>) {
  const host = await remote;
  let lists = 0;
  const list = host.approvals.list.bind(host.approvals);
  host.approvals.list = (...filter) => {
    lists++;
    return list(...filter);
  };
  return { host, lists: () => lists };
}

test.for([
  ['a socket', client],
  ['an event stream', ({ url }: { url: string }) => client({ url: url.replace('ws', 'http') })],
] as const)(
  'WS-72 approvalStore over %s: what somebody else has answered leaves the list because the server says so',
  async ([, reach]) => {
    const { server, session } = await asking({ http: true });
    const { host, lists } = await counted(reach(server));
    // No reading by time comes in this test.
    const store = approvalStore(host, { refreshMs: 3_600_000 });
    const comesTo = following(store);
    await comesTo(1);
    expect(host.approvals.tellsChanges).toBe(true);
    const before = lists();
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'deny' });
    await comesTo(0);
    expect(lists()).toBeGreaterThan(before);
  },
);

test('approvalStore: of a server that says no changes, the list is read again by time; of one that does, six times less', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const over = new AbortController();
  async function* never() {
    await new Promise((resolve) => over.signal.addEventListener('abort', resolve));
  }
  const readings = async (tellsChanges: boolean, refreshMs = 1000) => {
    let lists = 0;
    const approvals = {
      tellsChanges,
      watch: never,
      changes: never,
      list: async () => {
        lists++;
        return [];
      },
    };
    const host = { state: 'ready', onState: () => () => {}, approvals } as unknown as RemoteHost;
    const leave = approvalStore(host, { refreshMs }).subscribe(() => {});
    await vi.advanceTimersByTimeAsync(12_500);
    leave();
    await vi.advanceTimersByTimeAsync(0);
    return lists;
  };
  return (async () => {
    expect(await readings(false)).toBe(12);
    expect(await readings(true)).toBe(2);
    // ATK7-14: a timer that is too long would fire at once, again and again.
    expect(await readings(false, 2 ** 32)).toBe(0);
    over.abort();
  })();
});

test('WS-72 approvalStore: many answers at a time take two readings, and the last one counts', async () => {
  const said: (() => void)[] = [];
  const lists: ((open: RemoteApproval[]) => void)[] = [];
  async function* changes() {
    for (;;) yield await new Promise<number>((resolve) => said.push(() => resolve(1)));
  }
  async function* watch() {
    await new Promise(() => {});
  }
  const list = () => new Promise<RemoteApproval[]>((resolve) => lists.push(resolve));
  const approvals = { tellsChanges: true, watch, changes, list };
  const host = { state: 'ready', onState: () => () => {}, approvals } as unknown as RemoteHost;
  const store = approvalStore(host);
  following(store);
  for (let many = 0; many < 20; many++) {
    await expect.poll(() => said.length).toBe(many + 1);
    said[many]?.();
  }
  await expect.poll(() => said.length).toBe(21);
  expect(lists).toHaveLength(1);
  const request = { requestId: 'c', sessionId: 's', requestedAt: '2026-01-01T00:00:00.000Z' };
  lists[0]?.([{ agent: 'bot', userId: 'anna', request } as RemoteApproval]);
  await expect.poll(() => lists.length).toBe(2);
  lists[1]?.([]);
  await expect.poll(() => store.getSnapshot().approvals.length).toBe(0);
  expect(lists).toHaveLength(2);
});
