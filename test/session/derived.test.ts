import { expect, test } from 'vitest';
import type { AgentEvent, AgentSession, ReportedRequest } from '../../src/contracts/index.ts';
import { SubagentSession } from '../../src/host/subagents/subagent-session.ts';
import { derived, StreamQueue } from '../../src/session/index.ts';

/** A source that gives two numbers and then waits until it is left. */
function source() {
  const left = Promise.withResolvers<void>();
  const items = new StreamQueue<number>(
    async (out) => {
      out.push(1);
      out.push(2);
      await left.promise;
    },
    async () => left.resolve(),
  );
  return { items, left: left.promise };
}

test('SOAK-1 leaving a derived iterator while its next item is awaited ends its source', async () => {
  const { items, left } = source();
  const even = derived(items, (item) => (item % 2 === 0 ? `${item}` : undefined));
  expect(await even.next()).toEqual({ value: '2', done: false });
  const waiting = even.next();
  expect(await even.return?.()).toEqual({ value: undefined, done: true });
  await left;
  expect(await waiting).toEqual({ value: undefined, done: true });
  expect(await even.next()).toEqual({ value: undefined, done: true });
});

test('SOAK-1 the log of a sub-agent ends while it is waited for', async () => {
  const left = Promise.withResolvers<void>();
  const events = () =>
    new StreamQueue<AgentEvent>(
      () => left.promise,
      async () => left.resolve(),
    );
  const caller: ReportedRequest = { kind: 'tool', requestId: 'c', sessionId: 's', agentPath: ['bot'] } as never;
  const inner = { events } as unknown as AgentSession;
  const log = new SubagentSession(inner, caller).events({ live: true });
  const waiting = log.next();
  await log.return?.();
  expect(await waiting).toEqual({ value: undefined, done: true });
});
