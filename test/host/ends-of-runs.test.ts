import { describe, expect, test } from 'vitest';
import type { AgentEvent, ReportedRequest, SessionInput } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { assertClientRuns } from '../../src/host/hosted/index.ts';
import { HostedRun } from '../../src/host/run/hosted-run.ts';
import type { RunCalls } from '../../src/host/run/run-calls.ts';
import { EventStream } from '../../src/session/index.ts';
import { call, hosted } from './judge-kit.ts';
import { refusal, tool } from './kit.ts';
import { settle } from './run-kit.ts';

const closed = () => new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'closed');
const away = () => new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
const result = (requestId: string): SessionInput => ({ kind: 'tool_result', requestId, result: { content: [] } });
const goOn = { kind: 'continue' } as const;

/** A run over an executor whose streams fail with these, one after the other, and then end. */
function runOver(failures: Error[], calls?: Partial<Record<keyof RunCalls, unknown>>, more: object = {}) {
  const given: unknown[][] = [];
  const ended: unknown[] = [];
  const inner = {
    id: 's',
    pending: async () => [call()],
    stream: (inputs: unknown[]) => {
      given.push(inputs);
      const failure = failures.shift();
      return (async function* () {
        if (failure) throw failure;
        yield { type: 'stream_end', reason: 'aborted', data: {} } as AgentEvent;
      })();
    },
  };
  const frame = {
    ...{
      options: {},
      depth: 0,
      hasSubagents: false,
      warn: () => {},
      modeOf: () => undefined,
      shared: {},
      hooks: undefined,
    },
    ...more,
  };
  const subagents = { end: async (reason: string) => void ended.push(reason) };
  const session = { inner, frame, subagents, descriptor: { name: 'bot' }, introducedBy: 'agent' };
  const out = new EventStream(
    'x',
    async () => {},
    async () => {},
  );
  const run = new HostedRun(session as never, out, { streamId: 'x' }, { principal: { id: 'ann' }, news: undefined });
  const known = {
    ...{ endings: async () => {}, takeAnswers: () => [], kept: (_: unknown, results: unknown) => results, running: 0 },
    ...{ abortAll: () => {}, mayHaveEnded: false },
    ...calls,
  };
  if (calls) run.madeCalls = known as unknown as RunCalls;
  return { run, given, ended };
}

describe('MUT-H45 an aborted run', () => {
  test('ends its agent’s stream, and what was called first, with why', async () => {
    const { run, given, ended } = runOver([]);
    run.abort(new CoxswainError('ABORTED', 'E_ABORTED', 'enough'));
    expect((await run.abortInner([result('a')])).reason).toBe('aborted');
    expect([given, ended]).toEqual([[[goOn]], ['enough']]);
  });

  test('brings the results along that are wanted: those that were not sent, and those of what has ended', async () => {
    const kept: unknown[][] = [];
    const calls = {
      takeAnswers: () => [result('b')],
      kept: (open: ReportedRequest[], results: SessionInput[]) => {
        kept.push([open.map(({ requestId }) => requestId), results]);
        return results.slice(1);
      },
    };
    const { run, given } = runOver([], calls);
    await run.abortInner([result('a'), goOn]);
    expect(kept).toEqual([[['c'], [result('a'), result('b')]]]);
    expect(given).toEqual([[result('b'), goOn]]);
  });

  test('ends without them where somebody else has answered one in this moment; another fault is one', async () => {
    const calls = { takeAnswers: () => [result('a')] };
    const other = runOver([closed()], calls);
    expect((await other.run.abortInner([])).reason).toBe('aborted');
    expect(other.given).toEqual([[result('a'), goOn], [goOn]]);
    const lost = runOver([away()], calls);
    expect(await refusal(lost.run.abortInner([]))).toMatchObject({ code: 'E_STORE' });
    expect(await refusal(runOver([new Error('odd')], calls).run.abortInner([]))).toMatchObject({ message: 'odd' });
    const none = runOver([closed()], {});
    expect(await refusal(none.run.abortInner([]))).toMatchObject({ code: 'E_REQUEST_CLOSED' });
    expect(none.given).toHaveLength(1);
  });
});

test('MUT-H45 a run that is aborted twice ends once, for the first reason', () => {
  let aborts = 0;
  const { run } = runOver([], { abortAll: () => void aborts++ });
  run.abort(new CoxswainError('ABORTED', 'E_ABORTED', 'first'));
  run.abort(new CoxswainError('ABORTED', 'E_ABORTED', 'second'));
  expect([aborts, run.signal.reason]).toEqual([1, expect.objectContaining({ message: 'first' })]);
});

describe('MUT-H46 a run takes its session', () => {
  const words: SessionInput = { kind: 'message', content: 'hi' };
  const takes = (inputs: SessionInput[], more: object = {}, calls?: object) => {
    const { withEvents, mayEnd } = runOver([], calls, more).run.holdOptions(inputs);
    return [withEvents, mayEnd?.()];
  };
  test('with a message where nobody is told of that before it is stored, and back with the end where nothing runs', () => {
    expect(takes([words])).toEqual([true, true]);
    expect([takes([goOn]), takes([words, goOn]), takes([])]).toEqual(Array(3).fill([false, true]));
    expect(takes([words], { hooks: {} })).toEqual([false, true]);
    expect(takes([words], { hasSubagents: true })).toEqual([false, false]);
    expect([takes([words], {}, { running: 1 }), takes([words], {}, {})]).toEqual([
      [true, false],
      [true, true],
    ]);
  });

  test('and says how it has ended to whoever waits for that, before and after', async () => {
    const { run } = runOver([]);
    const before = run.ended;
    expect(run.ended).toBe(before);
    run.reason = 'completed';
    run.over();
    expect([await before, await run.ended]).toEqual(['completed', 'completed']);
    const { run: late } = runOver([]);
    late.over();
    expect(await Promise.race([late.ended, settle().then(() => 'it is waited for')])).toBe('failed');
    expect([run.isBusy('c'), run.abortCall('c')]).toEqual([false, false]);
    const busy = runOver([], {
      isBusy: () => true,
      abort: (id: string, why: string) => id === 'c' && why === 'enough',
    });
    expect([busy.run.isBusy('c'), busy.run.abortCall('c', 'enough')]).toEqual([true, true]);
  });

  test('has begun once an inner stream has taken what it was given, and is over behind a fatal error', () => {
    const { run } = runOver([]);
    expect(run.phase()).toBe('early');
    run.accepted = true;
    expect(run.phase()).toBe('open');
    Object.defineProperty(run.out, 'hasFailed', { value: true });
    expect([run.phase(), run.hasFailed]).toEqual(['over', true]);
    const below = runOver([], undefined, { depth: 1 }).run;
    below.accepted = true;
    Object.defineProperty(below.out, 'hasFailed', { value: true });
    expect([below.phase(), below.hasFailed]).toEqual(['open', false]);
  });
});

describe('MUT-H47 a result that a client hands in', () => {
  const asked = (more: object = {}) => call({ callId: 'c', requestId: 'c', name: 'pay', ...more } as never);
  interface Given {
    open?: ReportedRequest[];
    log?: object[];
    hostTool?: object | undefined;
    terms?: object | undefined;
    begun?: object | undefined;
    child?: object | undefined;
  }
  const takes = async ({ open = [], log = [], hostTool, terms, begun, child }: Given) => {
    const session = {
      subagents: { find: async ({ requestId }: { requestId: string }) => (requestId === 'c' ? child : undefined) },
      inner: {
        pending: async () => open,
        standing: async () => ({ isOver: false, ...(terms ? { terms } : {}) }),
        async *events() {
          yield* log as AgentEvent[];
        },
      },
      frame: { toolOf: () => hostTool, shared: { begun } },
    };
    return assertClientRuns(session as never, 'c').then(
      () => 'taken',
      ({ code }: CoxswainError) => code,
    );
  };
  const offers = { tools: [{ name: 'look' }, { name: 'pay' }] };
  test.each<[string, Given, string]>([
    ['taken of a tool that it offers', { open: [asked()], terms: offers }, 'taken'],
    ['taken of one that it offered where the executor keeps no terms', { open: [asked()], begun: offers }, 'taken'],
    ['refused of one that it does not offer', { open: [asked({ name: 'other' })], terms: offers }, 'E_WRONG_ANSWER'],
    ['refused where nothing is offered', { open: [asked()], terms: {} }, 'E_WRONG_ANSWER'],
    ['refused where no turn is known', { open: [asked()] }, 'E_WRONG_ANSWER'],
    ['refused of the agent’s own', { open: [asked({ handledBy: 'agent' })], terms: offers }, 'E_WRONG_ANSWER'],
    ['taken of one that the host declares', { open: [asked()], hostTool: hosted(tool('pay')) }, 'taken'],
    [
      'refused of one that the host runs, also where it is offered',
      { open: [asked()], hostTool: hosted(tool('pay', () => 1)), terms: offers },
      'E_WRONG_ANSWER',
    ],
    [
      'refused of a call that is over',
      { log: [{ type: 'tool_request', requestId: 'c', name: 'pay', handledBy: 'host' }] },
      'E_WRONG_ANSWER',
    ],
    ['left to others of a call that nobody knows', { open: [asked({ callId: 'd' })] }, 'taken'],
    ['left to others of a question', { open: [asked({ kind: 'elicitation' })] }, 'taken'],
  ])('is %s', async (_, given, expected) => {
    expect(await takes(given)).toBe(expected);
  });

  test('is that of the sub-agent whose call it is', async () => {
    const below = {
      subagents: undefined,
      inner: { pending: async () => [asked()], async *events() {} },
      frame: { toolOf: () => hosted(tool('pay', () => 1)), shared: {} },
    };
    expect(await takes({ child: below, open: [asked()], terms: offers })).toBe('E_WRONG_ANSWER');
  });
});
