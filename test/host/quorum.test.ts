import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentEvent, AgentSession, PolicyDecision, RequestAnswer, Settlement } from '../../src/contracts/index.ts';
import type { AgentHost, SessionService } from '../../src/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const asksFor = (quorum: number): PolicyDecision => ({ outcome: 'ask', approvers: { roles: ['boss'], quorum } });
const by = (id: string) => ({ id, roles: ['boss'] });
const pay = () => bot([{ calls: [['pay', { eur: 5 }]] }, 'done']);

type Append = SessionService['append'];

/** A question for several people, in one host or in two that have their own connection to one store. */
async function asked(
  quorum: number,
  { hosts = 1, append }: { hosts?: number; append?: (next: Append) => Append } = {},
) {
  const { tool, runs } = notingTool('pay');
  const folder = mkdtempSync(join(tmpdir(), 'quorum-'));
  const stores = Array.from({ length: hosts }, () =>
    hosts === 1 ? new InMemorySessionService() : openSqlite(join(folder, 'log.db')),
  );
  const last = stores.at(-1);
  if (append && last) last.append = append(last.append.bind(last));
  const policy = policyOf({ pay: asksFor(quorum) });
  const all: { host: AgentHost; session: AgentSession }[] = [];
  for (const store of stores) {
    const { host } = hostOf(pay(), { store, tools: [tool], policy });
    const session = await host.open('bot', { sessionId: 's', create: true });
    if (all.length === 0) await say(session, 'go');
    all.push({ host, session });
  }
  const [{ session }] = all as [{ host: AgentHost; session: AgentSession }];
  const { requestId } = await only(session);
  return {
    session,
    requestId,
    runs,
    /** The answer of somebody, at one of the hosts. */
    answer: (id: string, given: object = {}, at = 0): Promise<Settlement> => {
      const answer = { kind: 'approve', by: by(id), ...given } as RequestAnswer;
      return (all[at % hosts]?.session ?? session).respond(requestId, answer);
    },
    close: async () => {
      for (const { host } of all) await host.close();
      for (const one of stores) await one.close?.();
      rmSync(folder, { recursive: true });
    },
  };
}

test.each([
  ['a long id', 'x'.repeat(212)],
  ['an id with characters that no event id has', 'uid=anna,\u0007ou=\ud800'],
])('ATK2-18 somebody with %s has one vote, however often it is given', async (_, long) => {
  const { answer, runs, session, close } = await asked(2);
  expect([(await answer(long)).status, (await answer(long)).status]).toEqual(['waiting_quorum', 'waiting_quorum']);
  expect((await answer('b')).status).toBe('settled');
  await say(session, { kind: 'continue' });
  expect(runs).toHaveLength(1);
  await close();
});

async function record(session: AgentSession): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

describe('a question for several people', () => {
  test.each([1, 2])(
    'ATT-B5 five yeses at once to a quorum of three, %i host: who was too late is told so',
    async (hosts) => {
      const { answer, session, runs, close } = await asked(3, { hosts });
      const came = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id, at) => answer(id, {}, at)));
      const [settled] = came.filter(({ status }) => status === 'settled');
      const late = { status: 'already_settled', outcome: 'accept', by: settled?.by };
      expect(came.filter(({ status }) => status === 'waiting_quorum')).toHaveLength(2);
      expect(came.filter(({ status }) => status === 'already_settled')).toEqual([late, late]);
      // Nothing has run yet, and nobody is asked.
      expect(await answer('f')).toEqual(late);
      expect(await answer('g', { kind: 'deny' })).toEqual(late);
      await say(session, { kind: 'continue' });
      expect(runs).toEqual([{ eur: 5 }]);
      await close();
    },
  );

  test('ATT-B5 so is whoever says no when the last yes was on its way', async () => {
    const yeses = Promise.withResolvers<void>();
    // The no is judged while the question is open, and stored after two votes that do not know of each other.
    const append =
      (next: Append): Append =>
      async (key, events, options) => {
        if (events.some(({ actions }) => Object.keys(actions.answers ?? {}).length > 0)) await yeses.promise;
        return next(key, events, options);
      };
    const { answer, session, runs, close } = await asked(2, { hosts: 2, append });
    const no = answer('n', { kind: 'deny' }, 1);
    expect(await Promise.all([answer('a'), answer('b')])).toEqual([
      { status: 'waiting_quorum', by: 'a' },
      { status: 'settled', by: 'b' },
    ]);
    yeses.resolve();
    expect(await no).toEqual({ status: 'already_settled', outcome: 'accept', by: 'b' });
    await say(session, { kind: 'continue' });
    expect(runs).toHaveLength(1);
    await close();
  });

  test('ATT-B5 a vote that is given twice still waits, and one that has decided is settled already', async () => {
    const { answer, close } = await asked(2);
    expect((await Promise.all([answer('a'), answer('a')])).map(({ status }) => status)).toEqual([
      'waiting_quorum',
      'waiting_quorum',
    ]);
    const came = await Promise.all([answer('b'), answer('b')]);
    expect(came.map(({ status, by }) => [status, by])).toEqual([
      ['settled', 'b'],
      ['already_settled', 'b'],
    ]);
    await close();
  });

  test('ATT-B5 a late answer in an input is refused, and stores nothing', async () => {
    const { answer, session, requestId, runs, close } = await asked(2);
    await Promise.all([answer('a'), answer('b')]);
    const before = (await record(session)).length;
    const late = { kind: 'tool_approval' as const, requestId, by: by('c') };
    const { code, message } = await refusal(say(session, late));
    expect([code, message]).toEqual(['E_REQUEST_CLOSED', expect.stringContaining('b has completed the votes')]);
    expect(await record(session)).toHaveLength(before);
    await say(session, { kind: 'continue' });
    expect(runs).toHaveLength(1);
    await close();
  });
});
