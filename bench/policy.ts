import { hash } from 'node:crypto';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { cedarPolicy } from '../src/adapters/policy/cedar.ts';
import type { PolicyEvaluator, PolicyRequest } from '../src/contracts/index.ts';
import type { PolicyRule } from '../src/host/index.ts';
import { policyCall, rulePolicy } from '../src/host/index.ts';
import type { StoredEvent } from '../src/runtime/index.ts';
import { Chain, createEvent, verifyLog } from '../src/runtime/index.ts';
import { inTurn, median } from './measure.ts';

// node bench/policy.ts: what a decision costs beside the engine alone, and a checked log beside bare hashing.

function report(measure: string, value: number, unit: string, limit?: number, beside = ''): void {
  const verdict = limit === undefined ? '    ' : value <= limit ? 'ok  ' : 'MISS';
  const target = limit === undefined ? '' : `(at most ${limit})`;
  console.log(`${verdict} ${measure.padEnd(58)} ${value.toFixed(2).padStart(8)} ${unit.padEnd(6)} ${target} ${beside}`);
  if (limit !== undefined && value > limit) process.exitCode = 1;
}

const calls: PolicyRequest[] = Array.from({ length: 200 }, (_, n) =>
  policyCall(
    `tool_${n % 50}`,
    { path: `/srv/data/${n}`, amount: n % 97 },
    { as: `user${n % 20}`, roles: ['clerk', 'dev'], agents: ['lead', 'bot'], kind: 'edit', mode: 'default' },
  ),
);

/** Median microseconds of one decision. */
function perCall(policy: PolicyEvaluator, rounds = 40): number {
  const times: number[] = [];
  for (let round = -10; round < rounds; round++) {
    const start = performance.now();
    for (const call of calls) void policy.evaluate(call);
    if (round >= 0) times.push(((performance.now() - start) / calls.length) * 1000);
  }
  return median(times);
}

const thousand = (rule: (n: number) => PolicyRule) => Array.from({ length: 1000 }, (_, n) => rule(n));
const kinds: ((n: number) => PolicyRule)[] = [
  (n) => ({ tool: `tool_${n}`, role: 'nobody', outcome: 'deny' }),
  (n) => ({ tool: '*', role: `role${n}`, outcome: 'deny' }),
  (n) => ({ tool: 'to*', principal: `p*${n}`, agent: '*/helper', outcome: 'ask' }),
  (n) => ({ tool: `tool_${n % 50}`, args: { '/path': `^/etc/${n}` }, outcome: 'deny' }),
];
const mixed = thousand((n) => kinds[n % kinds.length]!(n));

function rules(): void {
  report('1,000 rules: names, globs, roles, principals, arguments', perCall(rulePolicy(mixed)), 'µs', 20);
  report('1,000 rules on every tool, by role', perCall(rulePolicy(thousand((n) => kinds[1]!(n)))), 'µs', 20);
  const args = thousand((n) => ({ tool: '*', args: { '/path': `^/etc/${n}` }, outcome: 'deny' }));
  const regexes = args.map((_, n) => new RegExp(`^/etc/${n}`));
  const bare = {
    evaluate: ({ args }: PolicyRequest) => ({
      outcome: regexes.some((one) => one.test(String(args?.path))) ? ('deny' as const) : ('allow' as const),
    }),
  };
  const floor = perCall(bare);
  const value = perCall(rulePolicy(args));
  report(
    '1,000 patterns on the arguments of every call',
    value,
    'µs',
    undefined,
    `${(value / floor).toFixed(1)}× the patterns alone`,
  );
}

async function cedarBeside(): Promise<void> {
  const tools = [
    {
      name: 'pay',
      description: '',
      inputSchema: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
    },
  ];
  const policies = Array.from(
    { length: 50 },
    (_, n) =>
      `@id("p${n}") permit(principal in Role::"role${n}", action == Action::"pay", resource) when { context.args.amount < ${n} };`,
  ).join('\n');
  let asked: Parameters<typeof cedar.statefulIsAuthorized>[0] | undefined;
  const engine = {
    ...cedar,
    statefulIsAuthorized(call: NonNullable<typeof asked>) {
      asked = call;
      return cedar.statefulIsAuthorized(call);
    },
  };
  const policy = await cedarPolicy({ policies, tools, engine });
  const call = policyCall('pay', { amount: 5 }, { as: 'ann', roles: ['role3', 'role7'], mode: 'default' });
  await policy.evaluate(call);
  const bareCall = asked!;
  const many = (work: () => unknown) => () => {
    const start = performance.now();
    for (let n = 0; n < 100; n++) work();
    return (performance.now() - start) * 10;
  };
  const { ours, bare } = await inTurn(
    { warmUp: 5, iterations: 30 },
    { ours: many(() => policy.evaluate(call)), bare: many(() => cedar.statefulIsAuthorized(bareCall)) },
  );
  report('Cedar, 50 policies', ours, 'µs', undefined, `the engine alone: ${bare.toFixed(1)} µs`);
  report('Cedar beside the engine alone', ours / bare, 'times', 1.2);
}

/** A log of calls, decisions and results. */
function log(count: number): StoredEvent[] {
  const chain = new Chain();
  const events: StoredEvent[] = [];
  for (let n = 0; events.length < count; n++) {
    const call = { type: 'function_call' as const, id: `c${n}`, name: 'pay', args: { amount: n, to: `account ${n}` } };
    const decisions = {
      [call.id]: { outcome: 'approved' as const, by: 'user:bob', ruleId: 'payments', reason: 'fine' },
    };
    const response = {
      type: 'function_response' as const,
      id: call.id,
      name: 'pay',
      response: { output: `paid ${n}` },
    };
    const three = [
      createEvent({ author: 'bot', content: { role: 'model', parts: [call] } }),
      createEvent({ author: 'user', actions: { decisions, started: [call.id] } }),
      createEvent({ author: 'bot', content: { role: 'user', parts: [response] } }),
    ];
    for (const event of three) {
      const [linked] = chain.link([event]) as [StoredEvent];
      linked.seq = events.length + 1;
      chain.see(linked);
      events.push(linked);
    }
  }
  return events.slice(0, count);
}

async function audit(): Promise<void> {
  const start = performance.now();
  const events = log(10_000);
  report('linking an event as it is appended', ((performance.now() - start) / events.length) * 1000, 'µs');
  const time = (work: () => unknown) => () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  };
  const { verify, bare } = await inTurn(
    { warmUp: 2, iterations: 9 },
    {
      verify: time(() => {
        if (!verifyLog(events).ok) throw new Error('the log does not hold');
      }),
      bare: time(() => {
        let last = '';
        for (const event of events) last = hash('sha256', last + JSON.stringify(event), 'base64url');
        if (last === '') throw new Error('nothing was hashed');
      }),
    },
  );
  report(
    '10,000 audited events verified',
    verify,
    'ms',
    1000,
    `${(verify / bare).toFixed(1)}× JSON and SHA-256 alone (${bare.toFixed(0)} ms)`,
  );
}

rules();
await cedarBeside();
await audit();
