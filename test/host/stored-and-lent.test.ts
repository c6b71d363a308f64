import { describe, expect, test } from 'vitest';
import type { AgentSource, HostContext, SessionProvider } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { HostedSession } from '../../src/host/hosted/index.ts';
import { isStillThere } from '../../src/host/hosted/index.ts';
import { Lent } from '../../src/host/lent.ts';
import { openSessionName } from '../../src/host/open-sessions.ts';
import { allSessions, sessionsInTurn, storedSessions, waitingSessions } from '../../src/host/stored-sessions.ts';
import { refusal } from './kit.ts';

const context = { userId: 'ann' } as HostContext;
const summary = { id: 's', app: 'shop', userId: 'ann', createdAt: '', updatedAt: '', length: 1, pending: 0 };

/** Agents by name, with what each keeps of sessions; undefined: nothing. */
function sources(kept: Record<string, object | undefined>) {
  const contexts: unknown[] = [];
  const source = (provider: object | undefined) => ({
    ...(provider
      ? {
          sessions: (given: unknown) => {
            contexts.push(given);
            return provider;
          },
        }
      : {}),
  });
  const all = Object.entries(kept).map(([name, provider]) => [name, source(provider)] as const);
  return { all: new Map(all) as unknown as ReadonlyMap<string, AgentSource>, contexts };
}

describe('MUT-H32 sessions that are stored', () => {
  test('are those of the first agent’s store, with what else that can do', async () => {
    const told: unknown[][] = [];
    const notes =
      (name: string, result: unknown) =>
      async (...given: unknown[]) => {
        told.push([name, ...given]);
        return result;
      };
    const provider = {
      create: notes('create', 'made'),
      load: notes('load', 'loaded'),
      list: notes('list', [summary]),
      delete: notes('delete', undefined),
      open: notes('open', []),
      listAll: notes('listAll', [summary]),
      decided: notes('decided', { decided: [] }),
    };
    const { all, contexts } = sources({ a: provider, b: { list: notes('other', []) } });
    const made = storedSessions(all, context, async (id) => void told.push(['forget', id]));
    expect([await made.create({ sessionId: 's' } as never), await made.load('s')]).toEqual(['made', 'loaded']);
    expect([(await made.list({ limit: 1 } as never))[0]?.id, (await made.listAll?.({ limit: 2 }))?.[0]?.id]).toEqual([
      ...['s', 's'],
    ]);
    await made.delete('s');
    expect([await made.open?.({ userId: 'ann' }), await made.decided?.({ limit: 1 })]).toEqual([[], { decided: [] }]);
    expect(told).toEqual([
      ['create', { sessionId: 's' }],
      ['load', 's'],
      ['list', { limit: 1 }],
      ['listAll', { limit: 2 }],
      ['delete', 's'],
      ['forget', 's'],
      ['open', { userId: 'ann' }],
      ['decided', { limit: 1 }],
    ]);
    expect(contexts).toEqual([context]);
  });

  test('are refused where nobody keeps any, and are no more than what their store can do', async () => {
    for (const none of [sources({}), sources({ a: undefined, b: {} })]) {
      expect(() => storedSessions(none.all, context, async () => {})).toThrow(
        expect.objectContaining({ status: 'UNIMPLEMENTED', code: 'E_UNSUPPORTED' }),
      );
    }
    const bare = storedSessions(sources({ a: { list: async () => [] } }).all, context, async () => {});
    expect(Object.keys(bare)).toEqual(['create', 'load', 'list', 'delete']);
    expect(await refusal(allSessions(bare, { limit: 1 }))).toMatchObject({ code: 'E_UNSUPPORTED' });
    const pages: unknown[] = [];
    const listAll = async (page: unknown) => {
      pages.push(page);
      return [summary];
    };
    expect(await allSessions({ listAll } as unknown as SessionProvider, { limit: 1, after: 'x' })).toEqual([summary]);
    expect(pages).toEqual([{ limit: 1, after: 'x' }]);
  });

  test('and wait, or whose turn has not ended, are those of all agents, each as its store says', async () => {
    const scopes: unknown[] = [];
    const { all } = sources({
      a: {
        open: async (scope: unknown) => {
          scopes.push(scope);
          return [{ userId: 'ann', sessionId: 's' }];
        },
        openTurns: async () => [{ userId: 'ann', sessionId: 's', running: true }],
      },
      b: undefined,
      c: {},
      d: {
        open: async () => [{ userId: 'ben', sessionId: 't', agent: 'other' }],
        openTurns: async () => [{ userId: 'ben', sessionId: 't', running: false, agent: 'other' }],
      },
    });
    expect(await waitingSessions(all, context, { userId: 'ann' })).toEqual([
      { agent: 'a', userId: 'ann', sessionId: 's' },
      { agent: 'other', userId: 'ben', sessionId: 't' },
    ]);
    expect(scopes).toEqual([{ userId: 'ann' }]);
    expect(await sessionsInTurn(all, context)).toEqual([
      { agent: 'a', userId: 'ann', sessionId: 's', running: true },
      { agent: 'other', userId: 'ben', sessionId: 't', running: false },
    ]);
  });

  test('have a name each among those that are open', () => {
    const names = [
      openSessionName('ann', 's', undefined),
      openSessionName('ann', 's', 'bot'),
      openSessionName('ann', 's', 'bot', true),
      openSessionName('ann', 's', undefined, true),
      openSessionName('ben', 's', undefined),
      openSessionName('ann', 't', undefined),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test('are there unless they were deleted, whatever else keeps them from being read', async () => {
    const at = (code: 'E_SESSION_NOT_FOUND' | 'E_SESSION_CONFLICT' | 'E_STORE') =>
      isStillThere({ standing: () => Promise.reject(new CoxswainError('UNAVAILABLE', code, code)) });
    expect([await at('E_SESSION_NOT_FOUND'), await at('E_SESSION_CONFLICT'), await at('E_STORE')]).toEqual([
      ...[false, false, true],
    ]);
    expect(await isStillThere({ standing: () => Promise.reject(new Error('odd')) })).toBe(true);
    expect([await isStillThere({}), await isStillThere({ standing: async () => ({ isOver: true }) })]).toEqual([
      ...[true, true],
    ]);
  });
});

test('MUT-H33 a handle that is lent is closed once the last of those who use it has given it back, each once', async () => {
  const told: string[] = [];
  const session = { [Symbol.asyncDispose]: async () => void told.push('closed') } as unknown as HostedSession;
  const lent = new Lent(session, () => void told.push('over'));
  const [a, b] = [lent.again(), lent.again()];
  expect([a.session, b.session]).toEqual([session, session]);
  await a[Symbol.asyncDispose]();
  await a[Symbol.asyncDispose]();
  expect(told).toEqual([]);
  await b[Symbol.asyncDispose]();
  expect(told).toEqual(['over', 'closed']);
});
