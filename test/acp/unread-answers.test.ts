import { afterEach, expect, test, vi } from 'vitest';
import { boundedFrames, loadAcpSdk } from '../../src/adapters/acp/calls/index.ts';
import type { CoxswainError } from '../../src/contracts/index.ts';

afterEach(() => void vi.useRealTimers());

/** So many requests of a method that nobody has; notes how many have been read. */
function asking(requests: number) {
  const read = { count: 0 };
  const input = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // It says no more, and stays.
      if (read.count >= requests) await new Promise(() => {});
      const lines = Array.from({ length: 100 }, () => {
        const frame = { jsonrpc: '2.0', id: `p${read.count++}`, method: 'x/y', params: { sessionId: 's' } };
        return `${JSON.stringify(frame)}\n`;
      });
      controller.enqueue(new TextEncoder().encode(lines.join('')));
    },
  });
  return { input, read };
}

test.each(['client', 'agent'] as const)(
  'ATK5-12 ATK5-13 of whoever asks our %s and takes no answers nothing more is read, and its connection is ended',
  async (side) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sdk = await loadAcpSdk();
    const { input, read } = asking(50_000);
    const output = new WritableStream<Uint8Array>({ write: () => new Promise(() => {}) });
    const faults: CoxswainError[] = [];
    const app = side === 'client' ? sdk.client({ name: 'ours' }) : sdk.agent({ name: 'ours' });
    const connection = app.connect(boundedFrames(sdk, { input, output }, 'the peer', (fault) => faults.push(fault)));
    await vi.waitUntil(() => vi.getTimerCount() > 0 || read.count === 50_000);
    expect(read.count).toBeLessThan(3000);
    expect(faults).toEqual([]);
    await vi.advanceTimersByTimeAsync(30_000);
    await connection.closed;
    expect(faults).toMatchObject([
      { code: 'E_AGENT_PROTOCOL', message: expect.stringContaining('the peer has taken') },
    ]);
    expect(read.count).toBeLessThan(3000);
  },
);

test('ATK5-12 whoever asks much and reads slowly is answered, each time', async () => {
  const sdk = await loadAcpSdk();
  const { input, read } = asking(5_000);
  let answered = 0;
  const output = new WritableStream<Uint8Array>({
    async write(bytes) {
      await new Promise((resolve) => setImmediate(resolve));
      answered += new TextDecoder().decode(bytes).split('\n').length - 1;
    },
  });
  const faults: CoxswainError[] = [];
  sdk
    .client({ name: 'ours' })
    .connect(boundedFrames(sdk, { input, output }, 'the peer', (fault) => faults.push(fault)));
  let ahead = 0;
  await expect
    .poll(
      () => {
        ahead = Math.max(ahead, read.count - answered);
        return answered;
      },
      { timeout: 20_000 },
    )
    .toBe(5_000);
  expect(ahead).toBeLessThan(3000);
  expect(faults).toEqual([]);
});
