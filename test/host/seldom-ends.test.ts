import { afterEach, expect, test, vi } from 'vitest';
import type { ReportedRequest, SessionInput } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { calledBy } from '../../src/host/approvals/open-places.ts';
import { isUnfinished } from '../../src/host/hosted/going-on.ts';
import { takeAnswers } from '../../src/host/hosted/take-answers.ts';
import { previewOf } from '../../src/host/questions/preview.ts';
import { HostedRun } from '../../src/host/run/hosted-run.ts';
import { Repeats } from '../../src/host/run/repeats.ts';
import { begins, EventStream } from '../../src/session/index.ts';
import { call } from './judge-kit.ts';
import { settle } from './run-kit.ts';

afterEach(() => void vi.useRealTimers());

test('MUT-H64 a session is unfinished whose question was answered for a version of the agent that is not here', async () => {
  const asks = async (more: object, present: object | undefined) => {
    const request = call({ kind: 'elicitation', approval: {}, ...more } as never);
    const session = {
      descriptor: { name: 'bot' },
      pending: async () => [request],
      standing: async () => ({ isOver: false }),
      frame: { present },
    };
    return isUnfinished(session as never);
  };
  const answers = [{ requestId: 'c#policy', action: 'accept' }];
  const present = { version: 'new', onChanged: 'ask' };
  expect(await asks({ version: 'old', answers }, present)).toBe(true);
  expect([await asks({ version: 'old', answers: [] }, present), await asks({ version: 'old' }, present)]).toEqual([
    ...[false, false],
  ]);
  expect([
    await asks({ version: 'new', answers }, present),
    await asks({ version: 'old', answers }, undefined),
  ]).toEqual([...[false, false]]);
});

test('MUT-H65 a session that was deleted has called nobody', async () => {
  const gone = new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'gone');
  const host = { warn: () => {}, borrow: () => Promise.reject(gone) };
  expect(await calledBy(host, { agent: 'bot', userId: 'ann', sessionId: 's' })).toEqual([]);
});

test('MUT-H66 a word to continue is none of the answers that come with it', async () => {
  const result: SessionInput = { kind: 'tool_result', requestId: 'c', result: { content: [] } };
  const words: SessionInput = { kind: 'message', content: 'hi' };
  const asked: string[] = [];
  const session = {
    inner: { pending: async () => [] },
    subagents: undefined,
    answerChecks: {
      direct: async (requestId: string, _: unknown, answer: unknown) => {
        asked.push(requestId);
        return answer;
      },
    },
  };
  const inputs: SessionInput[] = [{ kind: 'continue' }, result, words];
  expect(await takeAnswers(session as never, inputs)).toEqual(inputs);
  expect(asked).toEqual(['c']);
});

test('MUT-H67 of previews that did not come in time the newest thousand are known to be late', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let made = 0;
  const tool = {
    preview: () => {
      made++;
      return new Promise<never>(() => {});
    },
  };
  const info = (signal: AbortSignal) => ({ userId: 'ann', sessionId: 's', callId: 'c', signal }) as never;
  const look = (n: number) => previewOf(tool, { n }, undefined, info);
  const all = Array.from({ length: 1_002 }, (_, n) => look(n));
  await vi.advanceTimersByTimeAsync(10_001);
  await Promise.all(all);
  expect(made).toBe(1_002);
  await look(1_001);
  expect(made).toBe(1_002);
  const again = look(0);
  await settle();
  expect(made).toBe(1_003);
  await vi.advanceTimersByTimeAsync(10_001);
  await again;
});

test('MUT-H68 a run that only begins a turn leaves it to others', () => {
  const session = { descriptor: { name: 'bot' }, frame: { options: {} } };
  const out = new EventStream(
    'x',
    async () => {},
    async () => {},
  );
  const of = (more: object) =>
    new HostedRun(session as never, out, { streamId: 'x', ...more }, { principal: { id: 'ann' }, news: undefined });
  expect([of({ [begins]: true }).isLeaving, of({}).isLeaving, of({ [begins]: false }).isLeaving]).toEqual([
    ...[true, false, false],
  ]);
});

test('MUT-H69 an executor that refuses the same answers without end, and lists their calls, is told them eight times', () => {
  const answer: SessionInput = { kind: 'tool_approval', requestId: 'c' };
  const refused = (repeats: Repeats, open: ReportedRequest[]) => void repeats.refused([answer], open);
  const repeats = new Repeats();
  for (let n = 0; n < 7; n++) refused(repeats, [call()]);
  expect(() => refused(repeats, [call()])).toThrow(expect.objectContaining({ code: 'E_EXECUTOR_CONTRADICTION' }));
  const other = new Repeats();
  for (let n = 0; n < 9; n++) refused(other, []);
});
