import { expect, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource } from '../../../src/contracts/index.ts';
import type { HostOptions } from '../../../src/index.ts';
import { createHost, rulePolicy } from '../../../src/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { dying } from '../../property/lies/dying.ts';
import { all, notingTool } from '../kit.ts';

const boss = { id: 'boss', roles: ['boss'] };
const policy = rulePolicy([
  { tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'free', outcome: 'allow' },
]);
/** More than a turn takes. */
const MANY = 40;

/** What came of one call whose host has died when it had reached its store and its executor so many times. */
async function afterDeath(name: string, times: number) {
  const store = openSqlite(':memory:');
  const noted = notingTool(name);
  const liar = lyingExecutor({ calls: [{ id: 'c1', name, args: {} }] });
  const death = dying(times);
  const hostOf = (source: AgentSource, sessions: NonNullable<HostOptions['store']>) =>
    createHost({ app: 'shop', agents: [source], tools: [noted.tool], policy, store: sessions, warn: () => {} });
  const first = hostOf(death.source(liar), death.store(store));
  let isAnswered = name === 'free';
  try {
    const session = await first.open('liar', { sessionId: 's' });
    await all(session.stream('go'));
    if (!isAnswered) {
      const [asked] = (await session.pending()).filter(({ approval }) => approval);
      isAnswered = (await session.respond(asked?.requestId ?? '', { kind: 'approve', by: boss })).status === 'settled';
      await all(session.stream({ kind: 'continue' }));
    }
  } catch {
    // It is dead.
  }
  await first.close();
  const before = noted.runs.length;
  const next = hostOf(liar, store);
  const session = await next.open('liar', { sessionId: 's' });
  await all(session.stream({ kind: 'continue' }));
  const asked = (await session.pending()).map(({ requestId }) => requestId);
  await all(session.stream({ kind: 'continue' }));
  await next.close();
  await store.close();
  return { before, runs: noted.runs.length, asked, isAnswered };
}

test.each(['free', 'pay'])(
  'ATT-B1 wherever a host dies amid a call of %s, the next one runs it once or asks',
  async (name) => {
    const seen = new Set<string>();
    for (let times = 0; times < MANY; times++) {
      const { before, runs, asked, isAnswered } = await afterDeath(name, times);
      const at = `${name}, dead after ${times}`;
      expect(runs, at).toBeLessThanOrEqual(1);
      // Who has answered is not asked again, but for what nobody knows.
      if (isAnswered) expect([[], ['c1#rerun']], at).toContainEqual(asked);
      seen.add(`${before}, then ${runs}, ${asked.join()}`);
    }
    const either = ['0, then 1, ', '1, then 1, ', '0, then 0, c1#rerun', '1, then 1, c1#rerun'];
    expect([...seen]).toEqual(expect.arrayContaining(either));
  },
);
