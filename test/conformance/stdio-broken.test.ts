import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { DECOY_KEY, judge, requirements, sharedTarget, targetOfCommand } from '../../src/conformance/index.ts';
import { executorOn } from '../../src/conformance/stdio/launch.ts';

interface EventParams {
  sessionId: string;
  streamId: string;
  event: Record<string, unknown> & { type: string };
}
type Bend = (params: EventParams) => EventParams[];

let made = 0;
/** A message of its own beside an event, said in `place`. */
const stray = ({ sessionId, streamId, event }: EventParams, place: Partial<EventParams> = {}): EventParams => {
  const { timestamp, turnId } = event;
  const content = [{ type: 'text', text: 'by the way' }];
  const base = { id: `stray-${made++}`, timestamp, turnId, sessionId, streamId };
  return { sessionId, streamId, ...place, event: { ...base, type: 'message', role: 'agent', content } };
};
const ends = ({ event }: EventParams) => event.type === 'stream_end';
const beforeEnd = (place: Partial<EventParams>): Bend => {
  return (params) => (ends(params) ? [stray(params, place), params] : [params]);
};
const with_ = (params: EventParams, change: object) => [{ ...params, event: { ...params.event, ...change } }];

/** The minimal executor with another pipe: what only its reader can tell. */
function throughPipe(bend: Bend): ConformanceTarget {
  return {
    name: 'bent pipe',
    async start() {
      const child = spawn(process.execPath, [join(import.meta.dirname, '../../examples/minimal-executor/executor.ts')]);
      const pipe = new PassThrough();
      createInterface({ input: child.stdout }).on('line', (line) => {
        const frame = JSON.parse(line);
        const frames = frame.method === 'event' ? bend(frame.params).map((params) => ({ ...frame, params })) : [frame];
        for (const each of frames) pipe.write(`${JSON.stringify(each)}\n`);
      });
      child.once('close', () => pipe.end());
      const { initialize } = executorOn(pipe, child.stdin);
      return { ...(await initialize()), close: async () => void child.stdin.end() };
    },
  };
}

const bends: [id: string, how: string, make: () => Bend][] = [
  [
    'CX-GRAM-02',
    'the end comes twice',
    () => (params) => {
      return ends(params) ? [params, ...with_(params, { id: `again-${made++}` })] : [params];
    },
  ],
  ['CX-GRAM-02', 'words follow the end', () => (params) => (ends(params) ? [params, stray(params)] : [params])],
  [
    'CX-GRAM-05',
    'seq begins anew with each stream',
    () => {
      let seq = 0;
      return (params) => {
        const { partial, type } = params.event;
        if (partial || type === 'initialize') return [params];
        const numbered = with_(params, { seq: ++seq });
        if (ends(params)) seq = 0;
        return numbered;
      };
    },
  ],
  ['CX-GRAM-09', 'words for a stream that nobody began', () => beforeEnd({ streamId: 'nobody' })],
  ['CX-GRAM-09', 'words for a session that nobody opened', () => beforeEnd({ sessionId: 'nobody' })],
  [
    'CX-GRAM-11',
    'a delta is lost to a slow reader',
    () => {
      let deltas = 0;
      return (params) => (params.event.partial && ++deltas === 900 ? [] : [params]);
    },
  ],
  [
    'CX-TURN-08',
    'each event names a turn of its own',
    () => (params) => {
      return ends(params) ? [params] : with_(params, { turnId: `turn-${made++}` });
    },
  ],
  [
    'CX-ERR-02',
    'a key beside a call',
    () => (params) => {
      return params.event.type === 'tool_request' ? with_(params, { _meta: { key: DECOY_KEY } }) : [params];
    },
  ],
];

const judged = requirements.filter(({ id }) => /GRAM|TURN-08|ERR-02/.test(id));

test.concurrent.each(bends)('%s over a pipe: %s, and nothing else fails', async (id, _, make) => {
  await using target = sharedTarget(throughPipe(make()));
  const failed: string[] = [];
  for (const requirement of judged) {
    const { status, ...finding } = await judge(requirement, target, { deadlineMs: 5_000 });
    if (status === 'failed') failed.push(finding.id);
  }
  expect(failed).toEqual([id]);
});

test('an executor that never starts is told and ended, alone and shared', async () => {
  const starts: Promise<unknown>[] = [];
  const sleeper = targetOfCommand([process.execPath, '-e', 'setInterval(() => {}, 1000)']);
  const target: ConformanceTarget = {
    name: 'sleeper',
    start(options) {
      const start = sleeper.start(options);
      starts.push(start.catch((error: unknown) => String(error)));
      return start;
    },
  };
  const [first] = requirements;
  if (!first) throw new Error('there are no requirements');
  const finding = await judge(first, target, { deadlineMs: 50 });
  expect(finding).toMatchObject({ expected: 'an executor that starts', found: 'nothing within 50 ms' });
  await using shared = sharedTarget(target);
  await judge(first, shared, { deadlineMs: 50 });
  await shared[Symbol.asyncDispose]();
  expect(await Promise.all(starts)).toEqual(Array(2).fill(expect.stringContaining('it ended with SIGKILL')));
});

test.skipIf(process.platform === 'win32')('what a wrapper has started is killed with it', async () => {
  const store = mkdtempSync(join(tmpdir(), 'coxswain-wrapped-'));
  const script = '"$0" "$1" "$2"; exit $?';
  const executor = [process.execPath, join(import.meta.dirname, 'stored-executor.mjs'), store];
  const crash = requirements.find(({ id }) => id === 'CX-RESUME-07');
  if (!crash) throw new Error('there is no such requirement');
  const finding = await judge(crash, targetOfCommand(['sh', '-c', script, ...executor]), { deadlineMs: 5_000 });
  rmSync(store, { recursive: true });
  expect(finding).toMatchObject({ status: 'passed' });
});
