import { expect, test } from 'vitest';
import type { PutQuestion, ReportedRequest, SessionInput } from '../../src/contracts/index.ts';
import type { Step } from '../../src/host/questions/step.ts';
import { judgeOpen } from '../../src/host/run/judge-open.ts';
import { MANY, putQuestions } from '../../src/session/index.ts';
import { call, hosted } from './judge-kit.ts';
import { tool } from './kit.ts';
import { fakeRun } from './run-kit.ts';

const of = (id: string, more: object = {}) => call({ requestId: id, callId: id, ...more } as never);

/** A run whose judge says this of each call; what is judged, settled and started is noted. */
function runOf(
  step: (request: ReportedRequest) => Step,
  more: { options?: object; frame?: object; inner?: object } = {},
) {
  const told: string[] = [];
  const made = fakeRun({
    inner: more.inner ?? {},
    frame: {
      toolOf: () => hosted(tool('pay', () => 1)),
      bounded: async (_: string, result: object) => result,
      grounds: () => ({ principal: { id: 'ann' }, interactive: true }),
      goesOn: () => false,
      judge: {
        retain: () => {},
        settled: (id: string) => void told.push(`settled ${id}`),
        step: async (request: ReportedRequest) => {
          told.push(`judged ${request.requestId}`);
          return step(request);
        },
      },
      ...more.frame,
    },
    run: {
      options: { streamId: 'x', ...more.options },
      calls: {
        retain: () => {},
        isBusy: () => false,
        signalOf: () => new AbortController().signal,
        settles: (id: string) => void told.push(`settles ${id}`),
        judged: () => {},
        enqueue: ({ requestId }: ReportedRequest) => void told.push(`runs ${requestId}`),
        start: ({ requestId }: ReportedRequest) => void told.push(`runs ${requestId}`),
      },
    },
  });
  return { run: made.run, told };
}

const leave = (): Step => ({ kind: 'leave' });
const textOf = (input: SessionInput | undefined) => JSON.stringify(input);

test('MUT-H48 what many questions are put with is kept some at a time, each once', async () => {
  const put: number[] = [];
  const ids = new Set<string>();
  const inner = {
    [putQuestions]: async (questions: readonly PutQuestion[]) => {
      put.push(questions.length);
      for (const { requestId } of questions) ids.add(requestId);
    },
  };
  const asks = ({ requestId }: ReportedRequest) =>
    ({ kind: 'ask', question: { ...of(`${requestId}#policy`), approval: { title: 't' } } }) as never as Step;
  const many = Array.from({ length: 4 * MANY + 1 }, (_, n) => of(`c${n}`));
  await judgeOpen(runOf(asks, { inner }).run, many, [], []);
  expect([put, ids.size]).toEqual([[2 * MANY, 2 * MANY, 1], 4 * MANY + 1]);
  put.length = 0;
  await judgeOpen(runOf(asks, { inner }).run, many.slice(0, 2 * MANY), [], []);
  expect(put).toEqual([2 * MANY]);
  put.length = 0;
  await judgeOpen(runOf(leave, { inner }).run, many.slice(0, 2), [], []);
  expect(put).toEqual([]);
});

test('MUT-H49 a tool that the turn leaves out runs nothing, by its name; what has begun, or is a question, goes on', async () => {
  const batch: SessionInput[] = [];
  const { run, told } = runOf(leave, { options: { excludeTools: ['pay', 'look'] } });
  const open = [
    of('a'),
    of('b', { name: 'other' }),
    of('c', { started: true }),
    of('d', { kind: 'elicitation' }),
    of('e', { name: undefined, kind: 'elicitation' }),
  ];
  await judgeOpen(run, open, batch, []);
  expect(told).toEqual(['judged b', 'judged c', 'judged d', 'judged e', 'settled a', 'settles a']);
  expect(batch).toHaveLength(1);
  expect([textOf(batch[0])?.includes('pay'), textOf(batch[0])?.includes('ann')]).toEqual([true, true]);
  const none = runOf(leave);
  await judgeOpen(none.run, [of('a')], [], []);
  expect(none.told).toEqual(['judged a']);
});

test('MUT-H49 nor is one run again that it leaves out, unless it goes on with what it has begun', async () => {
  const decision = { args: undefined, by: 'policy', record: { outcome: 'approved', by: 'policy' } };
  const runs = (rerun: boolean) => (): Step => ({ kind: 'run', decision, rerun }) as never;
  const came = async (rerun: boolean, excludeTools: string[], goesOn = false) => {
    const { run, told } = runOf(runs(rerun), { options: { excludeTools }, frame: { goesOn: () => goesOn } });
    const batch: SessionInput[] = [];
    await judgeOpen(run, [of('a', { started: true })], batch, []);
    return [told.includes('runs a'), batch.length];
  };
  expect(await came(true, ['pay'])).toEqual([false, 1]);
  expect(await came(true, ['pay'], true)).toEqual([true, 0]);
  expect(await came(true, ['look'])).toEqual([true, 0]);
  expect(await came(false, ['pay'])).toEqual([true, 0]);
});
