import { describe, expect, test } from 'vitest';
import type { AgentEvent, SessionSummary, StoredDecision } from '../../src/contracts/index.ts';
import { DecidedQuestions } from '../../src/host/approvals/decided-questions.ts';
import { KnownAnswers } from '../../src/host/approvals/known-answers.ts';
import type { HostedSession } from '../../src/host/hosted/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { all, bot, hostOf, notingTool, only, policyOf } from './kit.ts';

const base = { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: '' };
const asked = (n: number) => ({
  ...base,
  id: `q${n}`,
  cursor: `${n}.0`,
  type: 'tool_request',
  requestId: `c${n}`,
  name: 'pay',
  args: {},
});
const answered = (n: number) => ({
  ...base,
  ...{
    id: `a${n}`,
    cursor: `${n}.1`,
    type: 'elicitation_response',
    requestId: `c${n}#policy`,
    action: 'accept',
    by: 'bert',
  },
});

/** A store of one session whose log can be replaced; events that were read are counted. */
function one(log: object[]) {
  const state = { log, read: 0, looks: 0, isBroken: false };
  const summary = (): SessionSummary => ({
    ...{ id: 's', app: 'shop', userId: 'anna', agent: 'bot', createdAt: '', updatedAt: '', pending: 0 },
    length: state.log.length,
  });
  const reads = {
    async *events({ after }: { after?: string } = {}) {
      const at = state.log.findIndex((event) => (event as { cursor: string }).cursor === after);
      if (after !== undefined && at < 0) {
        const { CoxswainError } = await import('../../src/contracts/index.ts');
        throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'no such cursor');
      }
      for (const event of state.log.slice(at + 1)) {
        state.read++;
        yield event as AgentEvent;
      }
    },
  };
  const session = { ...reads, history: () => reads.events() } as unknown as HostedSession;
  const warnings: string[] = [];
  const host = {
    allSessions: async () => {
      state.looks++;
      return [summary()];
    },
    borrow: async () => {
      if (state.isBroken) throw new Error('the disk is broken');
      return { session, [Symbol.asyncDispose]: async () => {} };
    },
    storeAgent: 'bot',
    warn: (message: string) => void warnings.push(message),
  };
  const decided = new DecidedQuestions(host, { add: async (some) => [...some] });
  const list = async () => (await decided.list({ by: { id: 'anna' } })).decided.map(({ requestId }) => requestId);
  return { state, list, warnings, decided, host };
}

test('a log is read once, and then what was added to it; people who ask at once read it once', async () => {
  const { state, list } = one([asked(1), answered(1)]);
  expect(await Promise.all([list(), list(), list()])).toEqual([['c1#policy'], ['c1#policy'], ['c1#policy']]);
  expect([state.read, state.looks]).toEqual([2, 1]);
  state.log = [...state.log, asked(2), answered(2)];
  expect(await list()).toEqual(['c2#policy', 'c1#policy']);
  // The newest one known is looked at again: it says that the log is the same.
  expect(state.read).toBe(5);
  await list();
  expect(state.read).toBe(5);
});

test('ATK4-01 sibling: of a session that was deleted and made again under its id nothing old is listed, and nothing new is missed', async () => {
  const { state, list } = one([asked(1), answered(1)]);
  await list();
  // Cursors are places: the new log has the same ones.
  const anew = (event: { id: string; requestId: string }) => ({
    ...event,
    id: `${event.id}-anew`,
    requestId: event.requestId.replace('c1', 'd1'),
  });
  state.log = [anew(asked(1)), anew(answered(1)), asked(2)];
  expect(await list()).toEqual(['d1#policy']);
});

test('a log that was replaced is read anew, and nothing of the old one is listed; one that cannot be read is left out, with a warning', async () => {
  const { state, list, warnings } = one([asked(1), answered(1)]);
  await list();
  state.log = [asked(7), answered(7), asked(8)];
  expect(await list()).toEqual(['c7#policy']);
  state.isBroken = true;
  state.log = [...state.log, answered(8)];
  expect(await list()).toEqual([]);
  expect(warnings).toHaveLength(1);
  state.isBroken = false;
  expect(await list()).toEqual(['c8#policy', 'c7#policy']);
});

test('ATK4-09 an answer whose event has the id alone, as older executors give it, makes nobody one who has answered', async () => {
  for (const [event, isKnown] of [
    [answered(1), false],
    [{ ...answered(1), byName: 'bert' }, true],
    [{ ...answered(1), byName: 'bert~1ben' }, false],
  ] as const) {
    const { decided, host } = one([asked(1), event]);
    expect((await decided.list({ by: { id: 'bert' } })).decided.length > 0).toBe(isKnown);
    const place = { agent: 'bot', userId: 'anna', sessionId: 's' };
    expect(await new KnownAnswers(host, 0).has(place, 'c1#policy', 'bert')).toBe(isKnown);
  }
});

test('ATK10-01 one of several approvals is an answer of its voter, and decides with the others alone', async () => {
  const vote = (who: string) => ({
    ...base,
    ...{ id: `v${who}`, cursor: `v${who}`, type: 'custom', kind: 'ext:approval_vote' },
    data: { requestId: 'c1#policy', by: who, byName: who },
  });
  const decision = { callId: 'c1', outcome: 'approved', by: 'user:carl' };
  const decided1 = { ...base, id: 'd1', cursor: 'd1', type: 'custom', kind: 'policy_decision', data: decision };
  const { state, decided, host } = one([asked(1), vote('bert')]);
  const seenBy = async (who: string) => (await decided.list({ by: { id: who } })).decided.map(({ by }) => by);
  expect(await seenBy('bert')).toEqual([]);
  // Two who did not know of each other.
  state.log = [...state.log, vote('carl'), decided1];
  expect([await seenBy('bert'), await seenBy('carl'), await seenBy('dora')]).toEqual([['carl'], ['carl'], []]);
  // A later one changes nothing of the decision.
  state.log = [...state.log, vote('dora')];
  expect([await seenBy('bert'), await seenBy('dora')]).toEqual([['carl'], ['carl']]);
  const place = { agent: 'bot', userId: 'anna', sessionId: 's' };
  const answers = new KnownAnswers(host, 0);
  for (const who of ['bert', 'carl', 'dora', 'emil'])
    expect(await answers.has(place, 'c1#policy', who)).toBe(who !== 'emil');
});

describe('of a store', () => {
  /** Anna's call, which somebody with a role has approved, and which has run. */
  async function paid(store: InMemorySessionService) {
    const asks = { outcome: 'ask' as const, approvers: { roles: ['boss'] } };
    const model = bot([{ calls: [['pay', { amount: 30, card: 'the secret card' }]] }, 'Paid.']);
    const { host } = hostOf(model, { store, tools: [notingTool('pay').tool], policy: policyOf({ pay: asks }) });
    const session = await host.open('bot', { userId: 'anna', sessionId: 's', create: true });
    await all(session.stream('go'));
    const { requestId } = await only(session);
    const by = { id: 'bert', roles: ['boss'] };
    await host.approvals.decide(
      requestId,
      { kind: 'approve', by },
      { by, agent: 'bot', userId: 'anna', sessionId: 's' },
    );
    await host.idle();
    const decided = (id: string, more: object = {}) => host.approvals.decided({ by: { id }, ...more });
    return { host, requestId, decided };
  }

  test('WS-74 what came of a call stands beside the answer, and nothing of what it was about', async () => {
    const { requestId, decided } = await paid(new InMemorySessionService());
    const page = await decided('anna');
    expect(page).toEqual({
      decided: [
        {
          ...{ agent: 'bot', userId: 'anna', sessionId: 's', requestId, callId: expect.any(String), tool: 'pay' },
          ...{ kind: 'policy', askedAt: expect.any(String), action: 'accept', by: 'bert', at: expect.any(String) },
          ...{ outcome: 'approved', result: 'succeeded', endedAt: expect.any(String) },
        },
      ],
    });
    expect(await decided('bert', { agent: 'bot', action: 'accept' })).toEqual(page);
    for (const more of [{ agent: 'bo' }, { action: 'edit' }, { action: 'expire' }, { tool: 'ship' }])
      expect((await decided('bert', more)).decided).toEqual([]);
    expect((await decided('eve')).decided).toEqual([]);
    expect(JSON.stringify(page)).not.toContain('secret');
  });

  test('WS-74 of a store that gives more than it was asked for nobody is shown what is not theirs', async () => {
    const store = new InMemorySessionService();
    const { decided } = await paid(store);
    const real = store.decided.bind(store);
    store.decided = (scope, { limit }) => real(scope, { limit });
    expect((await decided('eve')).decided).toEqual([]);
    expect((await decided('anna', { tool: 'ship' })).decided).toEqual([]);
    expect((await decided('anna')).decided).toHaveLength(1);
    expect((await decided('eve', { everybodys: ['ben'] })).decided).toEqual([]);
    expect((await decided('eve', { everybodys: ['anna'] })).decided).toHaveLength(1);
  });

  test('WS-74 a store that has looked through enough is not asked again for the same answer; of one whose pages have what is not listed, the next is', async () => {
    const store = new InMemorySessionService();
    const { decided } = await paid(store);
    const [one] = (await store.decided({ app: 'shop' }, { limit: 1 })).decided;
    const stored = one as StoredDecision;
    let looks = 0;
    store.decided = async () => {
      looks += 1;
      return { decided: [], after: '[1,"a","b","c"]' };
    };
    expect([await decided('anna'), looks]).toEqual([{ decided: [], after: '[1,"a","b","c"]' }, 1]);
    // What an agent that is not known has asked is not listed.
    store.decided = async (_, { after }) =>
      after === undefined ? { decided: [{ ...stored, agent: '' }], after: 'more' } : { decided: [stored] };
    const page = await decided('anna', { limit: 1 });
    expect(page.decided.map(({ sessionId }) => sessionId)).toEqual(['s']);
  });

  test('WS-74 where a store keeps no index, the newest sessions are looked through, and the page says so', async () => {
    const store = new InMemorySessionService();
    const { decided } = await paid(store);
    const stored = await decided('anna');
    Object.defineProperty(store, 'decided', { value: undefined });
    const [{ kind: _, askedAt: __, ...one } = {}] = stored.decided;
    expect(await decided('anna')).toEqual({ decided: [one], newest: 500 });
    expect(await decided('eve')).toEqual({ decided: [], newest: 500 });
  });
});
