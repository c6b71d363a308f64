import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, expect, test, vi } from 'vitest';
import { AskedSessions, Stands } from '../../src/host/approvals/asked-sessions.ts';
import { KnownAnswers } from '../../src/host/approvals/known-answers.ts';
import type { ApprovalHost, OpenApproval, WaitingSession } from '../../src/host/approvals/open-sessions.ts';
import { held } from '../../src/host/terms/index.ts';
import { bot, hostOf } from './kit.ts';

afterEach(() => {
  vi.useRealTimers();
});

const waiting: WaitingSession = {
  agent: 'bot',
  userId: 'ben',
  sessionId: 's',
  since: 1,
  calls: ['c1'],
  lastSeq: 4,
  tools: ['pay'],
};

test('MUT-H1 what is learned later of a session does not prolong what was learned before', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const asked = new AskedSessions(1_000);
  const stands = new Stands([waiting], new Set());
  await asked.read(waiting, stands, 0, () => Promise.resolve([]));
  const anna = { id: 'anna' };
  expect(asked.mayConcern(waiting, stands, anna)).toBe(false);
  // Both are believed for thirty seconds.
  vi.advanceTimersByTime(20_000);
  expect(await asked.below(waiting, stands, () => Promise.resolve(['s/1']))).toEqual(['s/1']);
  expect(asked.mayConcern(waiting, stands, anna)).toBe(false);
  vi.advanceTimersByTime(11_000);
  expect(asked.mayConcern(waiting, stands, anna)).toBe(true);
  expect(await asked.below(waiting, stands, () => Promise.resolve(['s/2']))).toEqual(['s/2']);
});

test('MUT-H11 what more than a hundred thousand questions are is forgotten, each session counted once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const asked = new AskedSessions(1_000);
  const request = { requestId: 'q', sessionId: 's', approval: { approvers: { roles: ['boss'] } } };
  const read = async (sessionId: string, count: number) => {
    const place = { ...waiting, sessionId };
    const stands = new Stands([place], new Set());
    const found = Array.from({ length: count }, () => ({ agent: 'bot', userId: 'ben', request }) as OpenApproval);
    await asked.read(place, stands, 0, () => Promise.resolve(found));
    return () => asked.mayConcern(place, stands, { id: 'anna' });
  };
  const first = await read('a', 60_000);
  await read('a', 60_000);
  await read('b', 1);
  expect(first()).toBe(false);
  await read('c', 60_000);
  expect(first()).toBe(false);
  await read('d', 1);
  expect(first()).toBe(true);
});

test('MUT-H2 of answers that are known those of the session that was asked for longest ago are given up first', async () => {
  const opened: string[] = [];
  const logs: Record<string, number> = { a: 60_000, b: 30_000, c: 60_000 };
  const borrow = (_agent: string, _userId: string, sessionId: string) => {
    opened.push(sessionId);
    async function* history() {
      for (let i = 0; i < (logs[sessionId] ?? 0); i++)
        yield { type: 'elicitation_response', id: `${i}`, requestId: `q${i}`, byName: 'anna' };
    }
    const session = { history, subagents: {} };
    return Promise.resolve({ session, [Symbol.asyncDispose]: () => Promise.resolve() });
  };
  const known = new KnownAnswers({ borrow } as unknown as ApprovalHost, 60_000);
  const has = (sessionId: string) => known.has({ agent: 'bot', userId: 'ben', sessionId }, 'q1', 'anna');
  for (const sessionId of ['a', 'b', 'c']) expect(await has(sessionId)).toBe(true);
  // A hundred thousand are remembered: the first of them has made room.
  expect(await has('b')).toBe(true);
  expect(await has('c')).toBe(true);
  expect(opened).toEqual(['a', 'b', 'c']);
  expect(await has('a')).toBe(true);
  expect(opened).toEqual(['a', 'b', 'c', 'a']);
});

test('MUT-H3 a host is announced to whoever looks for what is not given back', async () => {
  const seen: unknown[] = [];
  const note = (host: unknown) => void seen.push(host);
  subscribe('coxswain:host', note);
  const { host } = hostOf(bot(['hi']));
  unsubscribe('coxswain:host', note);
  hostOf(bot(['nobody listens']));
  expect(seen).toEqual([host]);
  const session = await host.open('bot');
  expect((seen[0] as typeof host & { [held](): object })[held]()).toMatchObject({ sessions: 1 });
  await session[Symbol.asyncDispose]();
});
