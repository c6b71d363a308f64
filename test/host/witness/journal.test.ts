import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource, HostJournal, ReportedRequest, SessionProvider } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { HostOptions } from '../../../src/index.ts';
import { createHost, InMemorySessionService, rulePolicy } from '../../../src/index.ts';
import type { AskedCall, Lies } from '../../../src/testing/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { all, endOf, notingTool, only } from '../kit.ts';

const boss = { id: 'boss', roles: ['boss'] };
const none = { id: '', length: 0 };
const policy = rulePolicy([
  { tool: 'pay', outcome: 'ask', approvers: { roles: ['boss'] } },
  { tool: 'free', outcome: 'allow' },
]);
const place = { app: 'shop', userId: 'local', agent: 'liar', sessionId: 's' };

/** A store whose journal does not take records of a kind. */
function refusing({ journal }: { journal: HostJournal }, kind: string): { journal: HostJournal } {
  return {
    journal: {
      read: (...given) => journal.read(...given),
      async append(key, records, ...rest) {
        if (!records.some((record) => record.kind === kind)) return journal.append(key, records, ...rest);
        throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'the store is away');
      },
      forget: (scope) => journal.forget(scope),
    },
  };
}

/** Hosts, one after the other or side by side, over one store, of one executor that outlives them. */
function shop(store = openSqlite(':memory:') as ReturnType<typeof openSqlite> | InMemorySessionService) {
  const noted = notingTool('pay');
  const free = notingTool('free');
  const warnings: string[] = [];
  const hosts: { close(): Promise<void> }[] = [];
  const source = (calls: readonly AskedCall[], lies: Lies = {}) => lyingExecutor({ calls, lies });
  const hostOf = (liar: AgentSource, sessions: NonNullable<HostOptions['store']> = store) => {
    const host = createHost({
      app: 'shop',
      agents: [liar],
      tools: [noted.tool, free.tool],
      policy,
      store: sessions,
      warn: (message) => warnings.push(message),
    });
    hosts.push(host);
    return host;
  };
  return {
    store,
    source,
    hostOf,
    runs: noted.runs,
    free: free.runs,
    warnings,
    async [Symbol.asyncDispose]() {
      await Promise.all(hosts.map((host) => host.close()));
      await store.close();
    },
  };
}

const pay = { id: 'c1', name: 'pay', args: { eur: 10 } };

describe.each<[string, () => Parameters<typeof shop>[0]]>([
  ['SQLite', () => openSqlite(':memory:')],
  ['memory', () => new InMemorySessionService()],
])('notes of a host in a store in %s', (_, open) => {
  test('ATT-B1 a yes to a host counts once in the next one, which asks nobody again', async () => {
    await using at = shop(open());
    const liar = at.source([pay]);
    const first = at.hostOf(liar);
    const before = await first.open('liar', { sessionId: 's', principal: { id: 'anna' } });
    await all(before.stream('go'));
    await before.respond((await only(before)).requestId, { kind: 'approve', by: boss, args: { eur: 7 } });
    expect(at.runs).toEqual([]);
    await first.close();
    for (let restarts = 0; restarts < 3; restarts++) {
      const next = at.hostOf(liar);
      const session = await next.open('liar', { sessionId: 's' });
      expect(endOf(await all(session.stream({ kind: 'continue' }))).reason).toBe('completed');
      expect(at.runs).toEqual([{ eur: 7 }]);
      await next.close();
    }
    expect(at.warnings).toEqual([]);
  });

  test('ATT-B1 what one of two hosts was told the other one knows: a yes counts once for both', async () => {
    await using at = shop(open());
    const liar = at.source([pay]);
    const [near, far] = await Promise.all(
      [at.hostOf(liar), at.hostOf(liar)].map((host) => host.open('liar', { sessionId: 's' })),
    );
    if (!near || !far) throw new Error('both are open');
    await all(near.stream('go'));
    const { requestId } = await only(far);
    await far.respond(requestId, { kind: 'approve', by: boss });
    await expect(near.respond(requestId, { kind: 'approve', by: boss })).rejects.toMatchObject({
      code: 'E_UNKNOWN_REQUEST',
    });
    await Promise.allSettled([near, far].map((session) => all(session.stream({ kind: 'continue' }))));
    expect(at.runs).toEqual([{ eur: 10 }]);
  });

  test('ATT-B1 a settled call that is listed again is a contradiction for the next host, too', async () => {
    await using at = shop(open());
    let isAgain = false;
    const again = (now: readonly ReportedRequest[], settled: readonly ReportedRequest[]) => (isAgain ? settled : now);
    const liar = at.source([{ ...pay, name: 'free' }], { open: again });
    const first = at.hostOf(liar);
    await all((await first.open('liar', { sessionId: 's' })).stream('go'));
    await first.close();
    isAgain = true;
    const session = await at.hostOf(liar).open('liar', { sessionId: 's' });
    await all(session.stream({ kind: 'continue' }));
    expect(at.free).toEqual([{ eur: 10 }]);
    expect(at.warnings.join()).toContain('it was settled');
  });

  test('ATT-B1 where a session is deleted its notes go: what was said of it counts nowhere', async () => {
    await using at = shop(open());
    const liar = at.source([pay]);
    const session = await at.hostOf(liar).open('liar', { sessionId: 's' });
    await all(session.stream('go'));
    const { requestId } = await only(session);
    await session.respond(requestId, { kind: 'approve', by: boss });
    await at.store.delete({ app: 'shop', userId: 'local', id: 's' });
    expect(await at.store.journal.read(place, none)).toEqual({ id: '', records: [] });
    for (const host of [undefined, at.hostOf(liar)]) {
      const open = host ? await host.open('liar', { sessionId: 's' }) : session;
      expect(endOf(await all(open.stream({ kind: 'continue' }))).reason).toBe('input_required');
    }
    expect(at.runs).toEqual([]);
  });

  test('ATT-B1 a session that is deleted where its executor keeps it takes its notes with it', async () => {
    await using at = shop(open());
    const deleted: string[] = [];
    const provider = { delete: async (id: string) => void deleted.push(id) } as unknown as SessionProvider;
    const host = at.hostOf({ ...at.source([pay]), sessions: () => provider });
    for (const sessionId of ['s', 's2']) await all((await host.open('liar', { sessionId })).stream('go'));
    await host.sessions().delete('s');
    expect(deleted).toEqual(['s']);
    expect((await at.store.journal.read(place, none)).records).toEqual([]);
    expect((await at.store.journal.read({ ...place, sessionId: 's2' }, none)).records).not.toEqual([]);
  });

  test.each(['terms', 'go', 'settled'])(
    'ATT-B1 where the store does not take a note (%s), its error is told, and nothing is done that was to be noted first',
    async (kind) => {
      await using at = shop(open());
      const session = await at.hostOf(at.source([{ ...pay, name: 'free' }]), refusing(at.store, kind)).open('liar');
      const events = await all(session.stream('go')).catch((error: unknown) => [error]);
      const errors = events.filter((event) => (event as { code?: string }).code !== undefined);
      expect(errors).toMatchObject([{ status: 'UNAVAILABLE', code: 'E_STORE' }]);
      expect(at.free).toHaveLength(kind === 'settled' ? 1 : 0);
    },
  );

  test('ATT-B1 a session that ends with its handle leaves no notes', async () => {
    await using at = shop(open());
    const host = at.hostOf(at.source([pay]));
    const session = await host.open('liar', { sessionId: 's', ephemeral: true });
    await all(session.stream('go'));
    await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
    await all(session.stream({ kind: 'continue' }));
    expect(at.runs).toHaveLength(1);
    expect(await at.store.journal.read(place, none)).toEqual({ id: '', records: [] });
  });

  test('ATT-B1 notes of a long session stay short, and know what was settled', async () => {
    await using at = shop(open());
    const calls = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, name: 'free', args: { n } }));
    let isAgain = false;
    const again = (now: readonly ReportedRequest[], settled: readonly ReportedRequest[]) => (isAgain ? settled : now);
    const liar = at.source(calls, { open: again });
    const session = await at.hostOf(liar).open('liar', { sessionId: 's' });
    for (let turn = 0; turn < 6; turn++) await all(session.stream('go'));
    expect(at.free).toHaveLength(600);
    const { records } = await at.store.journal.read(place, none);
    expect(records.length).toBeLessThan(1000);
    isAgain = true;
    const next = await at.hostOf(liar).open('liar', { sessionId: 's' });
    for (const handle of [session, next]) await all(handle.stream({ kind: 'continue' }));
    expect(at.free).toHaveLength(600);
  });

  test('ATT-B1 a question that stays open is noted once, however often it is looked at', async () => {
    await using at = shop(open());
    const session = await at.hostOf(at.source([pay])).open('liar', { sessionId: 's' });
    await all(session.stream('go'));
    for (let looks = 0; looks < 3; looks++) await all(session.stream({ kind: 'continue' }));
    const { records } = await at.store.journal.read(place, none);
    expect(records.filter(({ kind }) => kind === 'question')).toHaveLength(1);
  });

  test('ATT-B1 calls that an executor runs itself are noted once, however many turns there are', async () => {
    await using at = shop(open());
    const calls = Array.from({ length: 5 }, (_, n) => ({
      id: `c${n}`,
      name: 'free',
      args: {},
      handledBy: 'agent' as const,
    }));
    const said = new Set<string>();
    const liar = at.source(calls, {
      open: (now) => now.filter(({ requestId }) => !said.has(requestId) && said.add(requestId)),
    });
    const session = await at.hostOf(liar).open('liar', { sessionId: 's' });
    for (let turn = 0; turn < 20; turn++) await all(session.stream('go'));
    const { records } = await at.store.journal.read(place, none);
    const listed = records.flatMap(({ calls: open = [] }) => open as { callId: string }[]).map(({ callId }) => callId);
    expect(listed).toHaveLength(new Set(listed).size);
  });
});
