import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RemoteHost } from '../../src/adapters/remote/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentEvent, Principal } from '../../src/contracts/index.ts';
import { agentEvent } from '../../src/contracts/schemas/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { bot, door, hostOf, notingTool, policyOf, refusal, say } from '../host/kit.ts';
import { all, byName, client, serving } from './kit.ts';

const place = { agent: 'bot', userId: 'anna', sessionId: 'annas' };
const hides = policyOf({ pay: { outcome: 'allow', redact: ['/card'] } });
const pays: Script[] = [{ calls: [['pay', { amount: 30, card: 'visa-xyz' }]] }, { deltas: ['Paid with visa-xyz.'] }];
const operator = ({ roles = [] }: Principal) => {
  if (roles.includes('support')) return { content: true };
  return roles.includes('bens') ? { users: ['ben'] } : undefined;
};
const shown = (events: readonly AgentEvent[]) => JSON.stringify(events);

const eventsFor = (who: RemoteHost): AsyncIterable<AgentEvent> => {
  if (!who.operator) throw new Error('no operator');
  return who.operator.events(place);
};

describe('what policy hides is hidden from operators', () => {
  test('ATK4-01 of a session that was deleted and made again under its id', async () => {
    const { host } = hostOf(bot(['hello', 'hello again', ...pays, 'bye']), {
      tools: [notingTool('pay').tool],
      policy: hides,
    });
    const server = await serving(host, { operator });
    const [anna, olga] = [await client(server, 'anna'), await client(server, 'olga:support')];
    const first = await anna.open('bot', { sessionId: 'annas', create: true });
    for (const words of ['hi', 'and hi']) await all(first.stream(words));
    await first[Symbol.asyncDispose]();
    expect(shown(await all(eventsFor(olga)))).toContain('hello again');
    await anna.sessions('bot').delete('annas');
    const second = await anna.open('bot', { sessionId: 'annas', create: true });
    for (const words of ['pay now', 'thanks']) await all(second.stream(words));
    const seen = shown(await all(eventsFor(olga)));
    expect(seen).toContain('"amount":30');
    expect(seen).not.toContain('visa-xyz');
  });

  test('ATK4-02 of a call that is stored while they read', async () => {
    /** Tells of each read that has ended, and waits until it may answer. */
    class Watched extends InMemorySessionService {
      onGet: (() => Promise<void>) | undefined;
      override async get(...given: Parameters<InMemorySessionService['get']>) {
        const found = await super.get(...given);
        await this.onGet?.();
        return found;
      }
    }
    const store = new Watched();
    const pay = notingTool('pay');
    const given = { tools: [pay.tool], policy: hides, store };
    const writer = hostOf(bot(['hello', ...pays]), given).host;
    const server = await serving(hostOf(bot([]), given).host, { operator });
    const olga = await client(server, 'olga:support');
    const session = await writer.open('bot', { userId: 'anna', sessionId: 'annas', create: true });
    await say(session, 'hi');
    await all(eventsFor(olga));
    // The call is made between the reads of one answer, whichever of them it is.
    let reads = 0;
    const paid = door();
    store.onGet = async () => {
      if (++reads !== 2) return;
      store.onGet = undefined;
      await say(session, 'pay now');
      paid.open();
    };
    const during = await all(eventsFor(olga));
    await paid.opened;
    expect(shown(during)).not.toContain('visa-xyz');
    const after = shown(await all(eventsFor(olga)));
    expect(after).toContain('"amount":30');
    expect(after).not.toContain('visa-xyz');
  });
});

test('ATK4-19 arguments of the words of an event take nothing from it but content: its type, its place, and who decided stay', async () => {
  const words = {
    a: 'message',
    b: 'tool_request',
    c: 'policy_decision',
    d: 'approved',
    e: 'anna',
    f: 'text',
    g: 'custom',
    h: 'bot',
  };
  const policy = policyOf({ pay: { outcome: 'ask', redact: [''] } });
  const model = bot([{ text: 'I pay.', calls: [['pay', words]] }, { deltas: ['paid by anna'] }]);
  const { host } = hostOf(model, { tools: [notingTool('pay').tool], policy });
  const server = await serving(host, { operator });
  const session = await (await client(server, 'anna')).open('bot', { sessionId: 'annas', create: true });
  await all(session.stream('go'));
  const [question] = await session.pending();
  await all(session.stream({ kind: 'tool_approval', requestId: question?.requestId ?? '' }));
  const own = await all(session.events());
  const seen = await all(eventsFor(await client(server, 'olga:support')));
  const placeOf = ({ id, type, seq, cursor, turnId, agentId }: AgentEvent) => [id, type, seq, cursor, turnId, agentId];
  expect(seen.map(placeOf)).toEqual(own.map(placeOf));
  expect(seen.map((event) => agentEvent.safeParse(event).success)).toEqual(seen.map(() => true));
  expect(shown(seen)).not.toContain('paid by anna');
  const [entry] = await host.audit('annas', { userId: 'anna' });
  expect(entry).toMatchObject({
    args: {},
    answers: [{ requestId: question?.requestId, by: 'anna', at: expect.stringMatching(/^\d{4}-/) }],
    decisions: [{ outcome: 'approved', by: 'user:anna' }],
  });
});

test('ATK4-20 what waits for others is listed, however many of one’s own questions stand before it', async () => {
  const many = Array.from({ length: 1000 }, (_, at) => ['look', { at }] as const);
  const { host } = hostOf(bot([{ calls: many }, { calls: [['pay', {}]] }]), {
    tools: [notingTool('pay').tool, notingTool('look').tool],
    policy: policyOf({ look: 'ask', pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
  });
  const anna = await client(await serving(host), 'anna');
  for (const sessionId of ['first', 'second']) {
    await all((await anna.open('bot', { sessionId, create: true })).stream('go'));
  }
  const open = await anna.approvals.list({ own: true });
  expect(open.map(({ request }) => request.name)).toEqual(['pay']);
});

test('ATK4-17 what policy hides stays hidden where the runtime has copied it: in a summary, and in a result that is read again', async () => {
  const used = (inputTokens: number, outputTokens = 10) => ({ usage: { inputTokens, outputTokens } });
  const long = 'x '.repeat(1000);
  const model = bot(
    [
      { calls: [['pay', { card: 'visa-xyz' }]], ...used(300) },
      { text: long, ...used(500, 500) },
      { text: long, ...used(1500, 500) },
      { text: 'Summary: anna paid with visa-xyz.', ...used(800) },
      'two',
      (request) => {
        const answered = /call "([^"]+)"/.exec(JSON.stringify(request.contents).replaceAll('\\"', '"'))?.[1];
        return { calls: [['read_result', { call: answered ?? 'none' }]] };
      },
      'three',
    ],
    { compaction: { window: 2000, keep: 1 } },
  );
  const { host } = hostOf(model, { tools: [notingTool('pay').tool], policy: hides });
  const server = await serving(host, { operator });
  const anna = await client(server, 'anna');
  const session = await anna.open('bot', { sessionId: 'annas', create: true });
  for (const words of ['pay', 'next', 'and', 'again']) await all(session.stream(words));
  const own = shown(await all(session.events()));
  expect(own).toContain('Summary: anna paid with visa-xyz.');
  const seen = await all(eventsFor(await client(server, 'olga:support')));
  expect(seen.some((event) => event.type === 'custom' && event.kind === 'compacted')).toBe(true);
  expect(shown(seen)).not.toContain('visa-xyz');
});

test('ATK4-04 a page of an operator’s list names no session out of their scope, and none is told apart from one that is not there', async () => {
  const store = new InMemorySessionService();
  await store.create({ app: 'shop', userId: 'ben', id: 'bens' });
  for (let at = 0; at < 1001; at++) await store.create({ app: 'shop', userId: 'anna', id: `merger-${at}` });
  const server = await serving(hostOf(bot([]), { store }).host, { operator });
  const paul = await client(server, 'paul:bens');
  const page = await paul.operator?.sessions();
  expect(JSON.stringify(page)).not.toContain('merger');
  expect(page?.sessions.map(({ id }) => id)).toEqual(['bens']);
  const asked = (after: string) => refusal(paul.operator?.sessions({ after }) ?? Promise.resolve());
  const [there, gone] = [await asked('anna/merger-900'), await asked('anna/none')];
  expect(there.code).toBe('E_SESSION_NOT_FOUND');
  expect(there.message.replace('merger-900', 'none')).toBe(gone.message);
});

test('ATK4-03 whoever acts for somebody sees what waits in their own sessions, not in those of others with the same id', async () => {
  const gateways = { 'gw>anna': { id: 'gw', onBehalfOf: 'anna' }, gw: { id: 'gw' }, odd: { id: 'gw~1anna' } };
  const { host } = hostOf(bot(Array.from({ length: 3 }, () => ({ calls: [['pay', {}] as const] }))), {
    tools: [notingTool('pay').tool],
    policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
  });
  const server = await serving(host, {
    authenticate: (request) => gateways[request.token as keyof typeof gateways] ?? byName(request),
  });
  const own: Record<string, string[]> = {};
  for (const token of Object.keys(gateways)) {
    const session = await (await client(server, token)).open('bot', {
      sessionId: `of ${token}`.replace(/\W/g, '-'),
      create: true,
    });
    await all(session.stream('pay'));
  }
  for (const token of Object.keys(gateways)) {
    const open = await (await client(server, token)).approvals.list({ own: true });
    own[token] = open.map(({ request }) => request.sessionId);
  }
  expect(own).toEqual({ 'gw>anna': ['of-gw-anna'], gw: ['of-gw'], odd: ['of-odd'] });
});

describe('a session that cannot be read', () => {
  async function damaged() {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-damaged-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 's.db');
    const made = () =>
      hostOf(bot(Array.from({ length: 3 }, () => ({ calls: [['pay', {}] as const] }))), {
        store: openSqlite(path),
        tools: [notingTool('pay').tool],
        policy: policyOf({ pay: 'ask' }),
      }).host;
    const before = made();
    for (const sessionId of ['plain', 'my.session', 'other', 'other.below']) {
      await using session = await before.open('bot', { userId: 'anna', sessionId, create: true });
      if (sessionId !== 'other') await say(session, 'pay');
    }
    await before.close();
    const database = new DatabaseSync(path);
    database.exec(`UPDATE adk_events SET content = '{"dam' WHERE session_id <> 'other'`);
    database.close();
    const host = made();
    const warnings: string[] = [];
    const server = await serving(host, { warn: (message) => warnings.push(message) });
    return { anna: await client(server, 'anna'), eve: await client(server, 'eve'), warnings };
  }

  test('ATK4-06 is not there for strangers, however they ask; its owner is told, and so is who runs the server', async () => {
    const { anna, eve, warnings } = await damaged();
    const at = (sessionId: string) => ({ agent: 'bot', userId: 'anna', sessionId });
    for (const id of ['plain', 'my.session']) {
      expect(await eve.approvals.list({ sessionId: id })).toEqual([]);
      for (const ask of ['decide', 'outcome'] as const) {
        const asked = (sessionId: string) =>
          ask === 'decide'
            ? refusal(eve.approvals.decide('x', 'approve', at(sessionId)))
            : refusal(eve.approvals.outcome('x', at(sessionId)));
        expect(await asked(id)).toEqual(await asked('none'));
      }
    }
    expect(warnings.length).toBeGreaterThan(0);
    expect(await refusal(anna.open('bot', { sessionId: 'plain' }))).toMatchObject({ code: 'E_STORE' });
    expect(await refusal(anna.approvals.list({ sessionId: 'plain' }))).toMatchObject({ code: 'E_STORE' });
  });

  test('ATK4-08 can be deleted by its owner, also under an id with a dot, unless another session may have called it', async () => {
    const { anna } = await damaged();
    const sessions = anna.sessions('bot');
    for (const id of ['plain', 'my.session']) await sessions.delete(id);
    expect(await refusal(sessions.delete('other.below'))).toMatchObject({ code: 'E_STORE' });
    expect((await sessions.list()).map(({ id }) => id).toSorted()).toEqual(['other', 'other.below']);
  });
});
