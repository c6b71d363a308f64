import { expect, test } from 'vitest';
import type { ReportedRequest } from '../../../src/contracts/index.ts';
import { Budget } from '../../../src/host/terms/budget.ts';
import { believed } from '../../../src/host/witness/believed.ts';
import { KnownCalls, MOST_UNSETTLED } from '../../../src/host/witness/known-calls.ts';
import { CoxswainError, createHost, rulePolicy, run } from '../../../src/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { notingTool } from '../kit.ts';

/** An executor that lists its call anew each time, whatever it was told. */
function stubborn() {
  let first: readonly ReportedRequest[] = [];
  return lyingExecutor({
    calls: [{ id: 'c1', name: 'free', args: {}, handledBy: 'agent' }],
    lies: {
      open: (open) => {
        if (first.length === 0) first = structuredClone([...open]);
        return structuredClone([...first]);
      },
    },
  });
}

test.each([
  ['allow', { reason: 'failed', error: { code: 'E_EXECUTOR_CONTRADICTION' } }],
  ['deny', { reason: 'completed' }],
] as const)(
  'ATT-B1 another executor that goes on waiting for what it was told (%s) ends its run',
  async (outcome, end) => {
    const policy = rulePolicy([{ tool: 'free', outcome }]);
    const host = createHost({ app: 'shop', agents: [stubborn()], policy, warn: () => {} });
    expect(await run(await host.open('liar'), 'go')).toMatchObject(end);
  },
);

test('ATT-6 of an executor that contradicts its host without an end, the first thousand are told', async () => {
  const told: string[] = [];
  let n = 0;
  const source = lyingExecutor({
    calls: [],
    lies: { open: () => Array.from({ length: 400 }, () => ({ requestId: `c${n++}#policy`, kind: 'elicitation' })) },
  });
  const host = createHost({ app: 'shop', agents: [source], warn: (message) => told.push(message) });
  const session = await host.open('liar');
  for (let look = 0; look < 3; look++) expect(await session.pending()).toEqual([]);
  expect(told).toHaveLength(1_000);
});

test.each(['agent', 'host'] as const)(
  'ATT-08 an executor that refuses each decision on a call of its %s as closed, and lists it as open, ends its run',
  async (handledBy) => {
    const refusal = new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', 'it is closed');
    let refused = 0;
    const source = lyingExecutor({
      calls: [{ id: 'c1', name: 'free', args: {}, handledBy }],
      lies: {
        hears: (inputs) => {
          if (!inputs.some(({ kind }) => kind === 'tool_approval' || kind === 'tool_result')) return;
          refused++;
          throw refusal;
        },
      },
    });
    const policy = rulePolicy([{ tool: 'free', outcome: 'allow' }]);
    const free = notingTool('free', { annotations: { readOnly: true } });
    const host = createHost({ app: 'shop', agents: [source], tools: [free.tool], policy, warn: () => {} });
    const end = await run(await host.open('liar'), 'go');
    expect(end).toMatchObject({ reason: 'failed', error: { code: 'E_EXECUTOR_CONTRADICTION' } });
    expect(refused).toBe(8);
    expect(free.runs.length).toBeLessThan(2);
  },
);

/** An executor that asks for so many calls of a host tool, one after the other, and reports no model call. */
const askingOn = (calls: number) =>
  lyingExecutor({
    calls: Array.from({ length: calls }, (_, n) => ({ id: `c${n}`, name: 'free', args: {}, handledBy: 'host' })),
    lies: { open: (open) => open.slice(0, 1) },
  });

test.each<[string, number, number | undefined, number, string]>([
  ['asks more often than the turn has steps', 8, 5, 5, 'aborted'],
  ['asks as often as the turn has steps', 5, 5, 5, 'completed'],
  ['asks more than 500 times where nothing is said', 503, undefined, 500, 'aborted'],
])('ATK2-30 an executor that %s', async (_, asks, steps, runs, reason) => {
  const free = notingTool('free', { annotations: { readOnly: true } });
  const policy = rulePolicy([{ tool: 'free', outcome: 'allow' }]);
  const limits = steps === undefined ? {} : { limits: { steps } };
  const host = createHost({
    app: 'shop',
    agents: [askingOn(asks)],
    tools: [free.tool],
    policy,
    warn: () => {},
    ...limits,
  });
  const end = await run(await host.open('liar'), 'go');
  expect([free.runs.length, end.reason]).toEqual([runs, reason]);
});

test('ATK5-05 an executor that announces calls without an end in one stream has the first of them forgotten in it', async () => {
  const told: string[] = [];
  let hasEnded = false;
  const words = { name: 'free', handledBy: 'agent' as const };
  const source = lyingExecutor({
    calls: Array.from({ length: 13_000 }, (_, n) => ({ id: `c${n}`, args: { n }, ...words })),
    lies: {
      event: (event) => {
        if (event.type !== 'stream_end') return event;
        hasEnded = true;
        return { ...event, data: {} };
      },
      open: (open) => {
        if (!hasEnded) return [];
        return [open[0], open[12_999]].map((call) => ({ ...call, args: { other: true } }));
      },
    },
  });
  const policy = rulePolicy([{ tool: 'free', outcome: 'deny' }]);
  const host = createHost({ app: 'shop', agents: [source], policy, warn: (message) => told.push(message) });
  const session = await host.open('liar');
  let seen = 0;
  for await (const { type } of session.stream('go')) if (type === 'tool_request') seen++;
  expect(seen).toBe(13_000);
  await session.pending();
  // Of the one that was forgotten the words that are listed are the first.
  expect(told.filter((message) => message.includes('"c0"'))).toEqual([]);
  expect(told.filter((message) => message.includes('"c12999"'))).not.toEqual([]);
});

test('ATK5-05 a call under an id that is too long to be kept is neither shown nor open', async () => {
  const told: string[] = [];
  const ids = ['x'.repeat(1000), 'y'.repeat(1001)];
  const source = lyingExecutor({
    calls: ids.map((id) => ({ id, name: 'free', args: {}, handledBy: 'agent' as const })),
  });
  const policy = rulePolicy([{ tool: 'free', outcome: 'ask' }]);
  const host = createHost({ app: 'shop', agents: [source], policy, warn: (message) => told.push(message) });
  const session = await host.open('liar');
  const seen: string[] = [];
  for await (const event of session.stream('go')) if (event.type === 'tool_request') seen.push(event.requestId);
  expect(seen).toEqual(ids.slice(0, 1));
  expect((await session.pending()).flatMap(({ callId }) => callId ?? [])).not.toContain(ids[1]);
  expect(told).toEqual([expect.stringContaining('the requestId of an open request is longer than 1000 characters')]);
});

const listedCall = (id: string, args: Record<string, unknown> = {}) => ({
  ...{ requestId: id, callId: id, kind: 'tool', name: 'free', args, handledBy: 'agent', started: false },
  ...{ turnId: 't', path: '', agentPath: ['liar'], requestedAt: '' },
});

test('ATK7-07 of calls that are started and left without a result no more are taken than a host can hold', () => {
  const known = new KnownCalls();
  for (let n = 0; n < MOST_UNSETTLED; n++) {
    const decision = { outcome: 'approved', by: 'policy' } as never;
    known.apply({ kind: 'go', id: `g${n}`, callId: `c${n}`, digest: 'd', decision, starts: true, at: n });
  }
  const executor = { sessionId: 's1', agent: 'liar' };
  const { open, contradictions } = believed([listedCall('new')], known, executor);
  expect(open).toEqual([]);
  expect(contradictions).toEqual([{ requestId: 'new', what: expect.stringContaining('200000 calls of the session') }]);
  // What another host over the same store has noted counts all the same.
  known.apply({ kind: 'go', id: 'g', callId: 'noted', digest: 'd', decision: {} as never, starts: true, at: 1 });
  expect(known.calls.get('noted')?.started).toBe(true);
  known.apply({ kind: 'settled', callId: 'noted', digest: 'd' });
  known.apply({ kind: 'settled', callId: 'c0', digest: 'd' });
  expect(believed([listedCall('new')], known, executor).open).toHaveLength(1);
});

test('ATK7-07 calls that are asked about and given up without an end are forgotten, the oldest first; a started one is not', () => {
  const known = new KnownCalls();
  const decision = { outcome: 'approved', by: 'policy' } as never;
  known.apply({ kind: 'go', id: 'g', callId: 'started', digest: 'd', decision, starts: true, at: 0 });
  known.apply({ kind: 'void', callId: 'started', digest: 'd' });
  for (let n = 0; n < 12_000; n++) {
    const question = { requestId: `c${n}#policy` } as never;
    known.apply({ kind: 'question', callId: `c${n}`, digest: 'd', question, at: n });
    known.apply({ kind: 'void', callId: `c${n}`, digest: 'd' });
  }
  expect(known.calls.size).toBe(10_001);
  expect([known.calls.has('c1999'), known.calls.has('c2000'), known.calls.has('started')]).toEqual([false, true, true]);
  // The same from what stands in the place of the records.
  const again = new KnownCalls();
  for (const record of known.summary().records) again.apply(record);
  again.apply({ kind: 'question', callId: 'x', digest: 'd', question: { requestId: 'x#policy' } as never, at: 1 });
  again.apply({ kind: 'void', callId: 'x', digest: 'd' });
  expect(again.calls.size).toBe(10_001);
});

test('ATK7-07 a question that is put again and again about one call keeps the newest of its kind', () => {
  const known = new KnownCalls();
  for (let n = 0; n < 1500; n++) {
    const question = { requestId: `c#policy.${n}` } as never;
    known.apply({ kind: 'question', callId: 'c', digest: 'd', question, at: n });
    known.apply({ kind: 'void', callId: 'c', digest: 'd' });
  }
  const { questions = [] } = known.calls.get('c') ?? {};
  expect([questions.length, questions.at(-1)?.requestId]).toEqual([1000, 'c#policy.1499']);
});

test('ATK7-08 of what an executor lists as open, so many characters are held; a call beyond them is not shown', () => {
  const claims = [1, 2, 3, 4, 5].map((n) => listedCall(`c${n}`, { text: 'x'.repeat(1000) }));
  const executor = { sessionId: 's1', agent: 'liar' };
  const { open, contradictions } = believed(claims, new KnownCalls(), executor, 4000);
  expect(open.map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3']);
  const what = 'what is open has more than 4000 characters of JSON with it';
  expect(contradictions).toEqual(['c4', 'c5'].map((requestId) => ({ requestId, what })));
  expect(believed(claims, new KnownCalls(), executor).open).toHaveLength(5);
});

test('ATK7-08 what is too large to be held takes no room from what is listed behind it', () => {
  const claims = [3900, 50, 5000, 50].map((size, n) => listedCall(`c${n}`, { text: 'x'.repeat(size) }));
  const executor = { sessionId: 's1', agent: 'liar' };
  const ids = (listed: readonly object[]) =>
    believed(listed, new KnownCalls(), executor, 4500).open.map(({ callId }) => callId);
  expect(ids(claims)).toEqual(['c0', 'c1']);
  expect(ids(claims.toReversed())).toEqual(['c3', 'c1']);
});

test.each<[string, number[]]>([
  ['one round', [200_001]],
  ['a large round and many small ones', [199_900, ...Array(101).fill(1)]],
])('ATK7-09 an executor that lists more than may be open twice in %s has its stream ended', (_, rounds) => {
  const budget = new Budget({}, undefined, false);
  for (const asked of rounds.slice(0, -1)) budget.sawRound(asked);
  expect(budget.exceeded()).toBeUndefined();
  budget.sawRound(rounds.at(-1));
  expect(budget.exceeded()?.message).toContain('asked for 200001 calls and questions in one stream');
});

test('ATK7-09 an executor that lists ever new calls in few rounds has its stream ended', () => {
  const budget = new Budget({}, undefined, false);
  for (const asked of [100_000, 100_000]) budget.sawRound(asked);
  expect(budget.exceeded()).toBeUndefined();
  budget.sawRound();
  expect([budget.exceeded()?.code, budget.exceeded()?.message]).toEqual([
    'E_MAX_LLM_CALLS',
    expect.stringContaining('asked for 200001 calls and questions in one stream'),
  ]);
});

test('ATK7-10 of usage that an executor says has been, the sum is kept', async () => {
  const budget = new Budget({ usd: 1 }, { m: { input: 1, output: 1 } }, false);
  async function* history() {
    for (let at = 0; at < 1000; at++) yield { type: 'usage', model: 'm', inputTokens: 1000, id: `e${at}` } as never;
  }
  await budget.seeTurn(history());
  // A thousand times a thousand tokens, at one USD for a million.
  expect(budget.exceeded()?.code).toBe('E_MAX_BUDGET');
  await budget.seeTurn(
    (async function* () {
      yield { type: 'usage', model: 'm', inputTokens: 9e9 } as never;
      yield { type: 'stream_end', reason: 'completed' } as never;
    })(),
  );
  expect(budget.exceeded()?.message).toContain('1.0000');
});

test('ATK7-10 what sub-agents are said to have used is in the sum too; words that join a turn do not begin another one', async () => {
  const prices = { m: { input: 1, output: 1 } };
  const used = (inputTokens: number) => ({ type: 'usage', model: 'm', inputTokens }) as never;
  const words = (steer?: true) =>
    ({ type: 'message', role: 'user', content: [], ...(steer ? { _meta: { steer } } : {}) }) as never;
  const below = (inputTokens: number) =>
    ({
      ...{ type: 'custom', kind: 'policy_decision' },
      data: { callId: 'c', outcome: 'approved', usage: { inputTokens, cost: { usd: inputTokens / 1e6 } } },
    }) as never;
  const exceeds = async (...events: never[]) => {
    const budget = new Budget({ usd: 1 }, prices, false);
    await budget.seeTurn(
      (async function* () {
        yield* events;
      })(),
    );
    return budget.exceeded()?.code;
  };
  expect(await exceeds(used(600_000), words(true), used(600_000))).toBe('E_MAX_BUDGET');
  expect(await exceeds(used(600_000), words(), used(600_000))).toBeUndefined();
  expect(await exceeds(used(600_000), below(600_000))).toBe('E_MAX_BUDGET');
});
