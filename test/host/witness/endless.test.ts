import { expect, test } from 'vitest';
import type { ReportedRequest } from '../../../src/contracts/index.ts';
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
