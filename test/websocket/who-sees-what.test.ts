import { describe, expect, test } from 'vitest';
import type { AgentSource, Principal, SessionSummary } from '../../src/contracts/index.ts';
import { openSqlite } from '../../src/entries/stores-sqlite.ts';
import type { OperatorScope } from '../../src/host/operator/index.ts';
import type { AnyTool } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';

const given = (value: unknown) => value as OperatorScope | undefined;

class Scope {
  get users() {
    return ['ben'];
  }
}

describe('what `operator` gives', () => {
  test('ATK4-10 a promise, a collection or an instance of a class is no scope: nobody is an operator by it', async () => {
    const { host } = hostOf(bot(['hello']));
    const warnings: string[] = [];
    for (const [value, why] of [
      [Promise.resolve(undefined), 'is a promise'],
      [Promise.resolve({ users: ['ben'] }), 'is a promise'],
      [new Set(['ben']), 'is a Set; give a plain object'],
      [new Map([['users', ['ben']]]), 'is a Map; give a plain object'],
      [new Date(0), 'is a Date; give a plain object'],
      [new Scope(), 'is an object; give a plain object'],
      [['ben'], 'is a list; give a plain object'],
      [() => ['ben'], 'is a function; give a plain object'],
      [true, 'is true; give a plain object'],
      [null, 'is null; give a plain object'],
    ] as const) {
      const warn = (_: string, error?: unknown) => warnings.push(String(error));
      const server = await serving(host, { operator: () => given(value), warn });
      const eve = await client(server, 'eve');
      expect(eve.operator).toBeUndefined();
      expect(warnings.pop()).toContain(`operator: the scope ${why}`);
      await eve.close();
    }
  });

  test('ATK4-10 a promise that rejects is warned of, and ends nothing', async () => {
    const { host } = hostOf(bot(['hello']));
    const warnings: string[] = [];
    const server = await serving(host, {
      operator: () => given(Promise.reject(new Error('no directory'))),
      warn: (message, error) => warnings.push(`${message}: ${error instanceof Error ? error.message : error}`),
    });
    const eve = await client(server, 'eve');
    expect(eve.operator).toBeUndefined();
    expect(warnings.at(-1)).toBe('operator rejected for eve: no directory');
    expect(await all((await eve.open('bot', { sessionId: 's', create: true })).stream('hi'))).not.toEqual([]);
  });

  test('ATK4-10 a plain object is a scope, also one without a prototype', async () => {
    const { host } = hostOf(bot(['hello']));
    const scope: OperatorScope = Object.assign(Object.create(null), { users: ['ben'] });
    for (const operator of [() => scope, () => ({ users: ['ben'] })]) {
      const sam = await client(await serving(host, { operator }), 'sam');
      expect(await sam.operator?.sessions()).toEqual({ sessions: [] });
    }
  });
});

/** `gateway>ben:boss`: the gateway, which acts for ben, with the role boss. */
function byPerson({ token = '' }: { token?: string }): Principal {
  const [name = '', roles] = token.split(':');
  const [id = '', onBehalfOf] = name.split('>');
  return { id, ...(onBehalfOf ? { onBehalfOf } : {}), ...(roles ? { roles: roles.split(',') } : {}) };
}

describe('who has answered a question', () => {
  const place = { agent: 'bot', userId: 'carl', sessionId: 'c1' };

  async function answered(by: string) {
    const { host } = hostOf(bot([{ calls: [['pay', { card: '4242' }]] }, 'ok']), {
      tools: [notingTool('pay').tool as AnyTool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
      approvalPollMs: 0,
    });
    const server = await serving(host, { authenticate: byPerson });
    const carl = await client(server, 'carl');
    const session = await carl.open('bot', { sessionId: 'c1', create: true });
    await all(session.stream('go'));
    const [open] = await session.pending();
    const requestId = open?.requestId ?? '';
    await (await client(server, by)).approvals.decide(requestId, 'approve', place);
    await host.idle();
    /** What somebody without a role sees: of the question, and among those that were decided. */
    const seen = async (token: string) => {
      const { approvals } = await client(server, token);
      const one = await approvals.outcome(requestId, place).then(
        () => true,
        (error) => error.code,
      );
      return [one, (await approvals.decided()).decided.length];
    };
    return { session, seen };
  }

  test('ATK4-09 one who acts for somebody is another one than for themselves, or for a third person', async () => {
    const { session, seen } = await answered('gateway>ben:boss');
    expect(await seen('gateway')).toEqual(['E_UNKNOWN_REQUEST', 0]);
    expect(await seen('gateway>eve')).toEqual(['E_UNKNOWN_REQUEST', 0]);
    expect(await seen('ben')).toEqual(['E_UNKNOWN_REQUEST', 0]);
    expect(await seen('gateway>ben')).toEqual([true, 1]);
    const log = await all(session.events());
    expect(log.find(({ type }) => type === 'elicitation_response')).toMatchObject({
      by: 'gateway',
      byName: 'gateway~1ben',
    });
  });

  test('ATK4-09 one who acts for themselves is known, whatever is in their id', async () => {
    for (const id of ['gw', 'g~1w', 'g~w']) {
      const { seen } = await answered(`${id}:boss`);
      expect(await seen(id)).toEqual([true, 1]);
      expect(await seen(`${id}>ben`)).toEqual(['E_UNKNOWN_REQUEST', 0]);
      expect(await seen('g>w')).toEqual(['E_UNKNOWN_REQUEST', 0]);
    }
  });
});

describe('titles of sessions', () => {
  const tooLong = { code: 'E_BAD_INPUT', message: expect.stringContaining('a text of at most 300 characters') };

  test('ATK4-11 a title is bounded where it is set, and the error names the limit', async () => {
    const { host } = hostOf(bot([]));
    const server = await serving(host, { operator: () => ({ content: true }) });
    const eve = await client(server, 'eve');
    const session = await eve.open('bot', { sessionId: 's', create: true });
    for (const title of ['T'.repeat(301), 'T'.repeat(1_000_000)]) {
      await expect(session.update({ title })).rejects.toMatchObject(tooLong);
      await expect(host.sessions('eve').create({ title })).rejects.toMatchObject(tooLong);
      await expect(
        new InMemorySessionService().create({ app: 'shop', userId: 'eve' }, { title }),
      ).rejects.toMatchObject(tooLong);
    }
    await session.update({ title: 'T'.repeat(300) });
    expect((await eve.operator?.sessions())?.sessions).toMatchObject([{ title: 'T'.repeat(300) }]);
  });

  test.each([
    ['memory', () => new InMemorySessionService()],
    ['SQLite', () => openSqlite(':memory:')],
  ])('ATK4-11 one that an event brings is refused by the store, whoever appends it: %s', async (_, open) => {
    const store = open();
    const key = { app: 'shop', userId: 'eve', id: 's' };
    await store.create(key);
    const note = createEvent({
      author: 'user',
      actions: { config: { title: `${'T'.repeat(298)}😀${'T'.repeat(4_194_304)}` } },
    });
    await expect(store.append(key, [note])).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    expect((await store.get(key))?.events).toEqual([]);
    expect((await store.list({ app: 'shop' }))[0]).not.toHaveProperty('title');
  });

  test('ATK4-11 an executor that takes any title is not given a long one, and one of its list is cut', async () => {
    const source = fromAgent(bot([]));
    let updates = 0;
    const other: AgentSource = {
      descriptor: source.descriptor,
      open: async (...given) => {
        const session = await source.open(...given);
        session.update = async () => {
          updates++;
          return { effective: 'next_step' };
        };
        return session;
      },
      sessions: (context) => {
        const provider = source.sessions?.(context);
        if (!provider) throw new Error('no sessions');
        const titled = (one: SessionSummary) => ({ ...one, title: 'T'.repeat(1000) });
        return { ...provider, list: async (options) => (await provider.list(options)).map(titled) };
      },
    };
    const host = createHost({ app: 'shop', agents: [other], store: new InMemorySessionService() });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await expect(session.update({ title: 'T'.repeat(301) })).rejects.toMatchObject(tooLong);
    await session.update({ title: 'T'.repeat(300) });
    expect(updates).toBe(1);
    const [listed] = await host.sessions().list();
    expect(listed?.title).toBe(`${'T'.repeat(299)}…`);
    await host.close();
  });
});
