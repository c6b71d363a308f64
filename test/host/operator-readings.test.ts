import { expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { OperatorView } from '../../src/host/operator/index.ts';
import type { AgentHost } from '../../src/index.ts';

/** Sessions whose one call has an argument of so many characters; notes how many events are read of each. */
function looking(characters: number) {
  const base = { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: '', turnId: 't' };
  const args = { text: 'x'.repeat(characters) };
  const log = [
    { ...base, id: 'm', seq: 1, cursor: '1.0', type: 'message', role: 'user', content: [] },
    { ...base, id: 'c', seq: 2, cursor: '2.0', type: 'tool_request', requestId: 'c', name: 'pay', args },
    { ...base, id: 'e', seq: 3, cursor: '3.0', type: 'stream_end', reason: 'completed', data: {} },
  ] as unknown as AgentEvent[];
  const read: Record<string, number> = {};
  const host = {
    agents: [{ name: 'bot' }],
    open: async (_: string, { sessionId }: { sessionId: string }) => ({
      id: sessionId,
      descriptor: { name: 'bot' },
      async *events({ after, limit }: { after?: string; limit?: number } = {}) {
        const from = log.findIndex(({ cursor }) => cursor === after) + 1;
        // What is shown has a limit; what is read for what policy hides has none.
        for (const event of log.slice(from)) {
          if (limit === undefined) read[sessionId] = (read[sessionId] ?? 0) + 1;
          yield event;
        }
      },
      [Symbol.asyncDispose]: async () => {},
    }),
  } as unknown as AgentHost;
  const view = new OperatorView(
    host,
    () => ({ content: true }),
    () => {},
  );
  const look = async (sessionId: string) => {
    delete read[sessionId];
    await view.events({ id: 'olga' }, { agent: 'bot', userId: 'anna', sessionId }, { limit: 10 });
    return read[sessionId];
  };
  return look;
}

test('ATK4-18 what is to be hidden of a log is read once, kept for a minute after somebody has asked, and then forgotten', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const look = looking(10);
  expect(await look('s')).toBe(3);
  vi.advanceTimersByTime(59_000);
  // The newest one known, which says that the log is the same.
  expect(await look('s')).toBe(1);
  vi.advanceTimersByTime(59_000);
  expect(await look('s')).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(await look('s')).toBe(3);
});

test('ATK4-18 of many arguments those are forgotten that were asked for longest ago', async () => {
  const look = looking(12 * 1024 * 1024);
  expect([await look('a'), await look('b')]).toEqual([3, 3]);
  expect([await look('a'), await look('b')]).toEqual([1, 1]);
  expect(await look('c')).toBe(3);
  expect([await look('b'), await look('c')]).toEqual([1, 1]);
  expect(await look('a')).toBe(3);
});
