import { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { executorOn } from '../../src/conformance/stdio/launch.ts';
import type { AgentDescriptor, AgentEvent } from '../../src/contracts/index.ts';

const COUNT = 2_000;
const descriptor: AgentDescriptor = {
  name: 'fast',
  description: '',
  executor: 'made',
  inputSchema: {},
  capabilities: [],
  ownTools: [],
  requiredTools: [],
  subAgents: [],
};

/** An executor that writes as fast as it is read: each stream is `COUNT` events. */
function fastExecutor() {
  const frames: string[] = [];
  let pulled = 0;
  let sessions = 0;
  const write = (frame: object) => void frames.push(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  const events = (sessionId: string, streamId: string) => {
    const base = { timestamp: new Date().toISOString(), sessionId, streamId };
    for (let n = 0; n < COUNT; n++) {
      const last = n === COUNT - 1;
      const event = last
        ? { type: 'stream_end', reason: 'completed', data: {} }
        : { type: 'custom', kind: 'n', data: n };
      write({ method: 'event', params: { sessionId, streamId, event: { ...base, ...event, id: `${streamId}-${n}` } } });
    }
  };
  const answers: Record<string, (params: Record<string, string>) => object> = {
    initialize: () => ({ protocolVersion: '1.0', descriptor }),
    open: () => ({ sessionId: `s${sessions++}` }),
    stream: () => ({}),
    respond: () => ({ status: 'settled' }),
    abort: () => ({}),
  };
  // Node reads this many frames ahead, and no more.
  const output = new Readable({
    highWaterMark: 1,
    read() {
      const frame = frames.shift();
      if (frame === undefined) return;
      pulled++;
      this.push(frame);
    },
  });
  const input = new Writable({
    write(chunk, _, done) {
      const { id, method, params } = JSON.parse(String(chunk));
      write({ id, result: answers[method]?.(params) });
      if (method === 'stream') events(params.sessionId, params.streamId);
      output.read(0);
      // Frames may have come while nothing was there to be pulled.
      output._read(1);
      done();
    },
  });
  const { initialize, rpc } = executorOn(output, input);
  return { initialize, rpc, pulled: () => pulled };
}

/** Until nothing more happens by itself. */
async function calm(count: () => number): Promise<number> {
  for (let before = -1; before !== count(); ) {
    before = count();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return count();
}

test('a fast executor is not read further than a slow host can follow, and nothing is lost', async () => {
  const { initialize, pulled } = fastExecutor();
  const session = await (await initialize()).open();
  const stream = session.stream('go');
  await stream.next();
  expect(await calm(pulled)).toBeLessThan(100);
  const rest: AgentEvent[] = [];
  for await (const event of stream) rest.push(event);
  expect(rest.length).toBe(COUNT - 1);
  expect(new Set(rest.map(({ id }) => id)).size).toBe(COUNT - 1);
});

test('an answer that stands behind unread events is had, and so is the stream of another session', async () => {
  const { initialize, pulled } = fastExecutor();
  const { open } = await initialize();
  const [slow, other] = [await open(), await open()];
  const stream = slow.stream('go');
  await stream.next();
  await calm(pulled);
  expect(await slow.respond('r', { kind: 'deny' })).toEqual({ status: 'settled' });
  let seen = 0;
  for await (const _ of other.stream('go')) seen++;
  expect(seen).toBe(COUNT);
  let left = 0;
  for await (const _ of stream) left++;
  expect(left).toBe(COUNT - 1);
});

test('a host that leaves a stream which it has stopped reading is not held up', async () => {
  const { initialize, pulled } = fastExecutor();
  const session = await (await initialize()).open();
  const stream = session.stream('go');
  await stream.next();
  await calm(pulled);
  await stream.return?.();
  expect(pulled()).toBeGreaterThan(COUNT);
});
