import { describe, expect, test } from 'vitest';
import type { AgentEvent, SessionSummary } from '../../src/contracts/index.ts';
import { DecidedQuestions } from '../../src/host/approvals/decided-questions.ts';
import type { HostedSession } from '../../src/host/hosted/index.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
let count = 0;
const event = (type: string, more: object) => ({ type, id: `e${count++}`, timestamp: at(1), ...more });
const called = (requestId: string, name = 'pay') => event('tool_request', { requestId, name });
const answered = (requestId: string, more: object = {}) =>
  event('elicitation_response', { requestId, action: 'accept', ...more });

/** Sessions with their logs, the newest first; which were opened is noted. */
function decidedIn(logs: Record<string, object[]>, summary: (id: string) => object = () => ({})) {
  const opened: string[] = [];
  const pages: object[] = [];
  const warnings: string[] = [];
  let most = 0;
  let now = 0;
  const made = new DecidedQuestions(
    {
      storeAgent: 'bot',
      warn: (message) => void warnings.push(message),
      allSessions: async ({ limit, after }) => {
        pages.push({ limit, after });
        const ids = Object.keys(logs);
        const from = after === undefined ? 0 : ids.findIndex((id) => `ann/${id}` === after) + 1;
        return ids.slice(from, from + limit).map(
          (id) =>
            ({
              ...{ id, app: 'shop', userId: 'ann', agent: 'bot', createdAt: '', updatedAt: '', pending: 0 },
              length: logs[id]?.length,
              ...summary(id),
            }) as SessionSummary,
        );
      },
      borrow: async (agent, userId, sessionId) => {
        opened.push(`${agent}/${userId}/${sessionId}`);
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        const session = {
          async *events() {
            yield* (logs[sessionId] ?? []) as AgentEvent[];
          },
        };
        return {
          session: session as unknown as HostedSession,
          [Symbol.asyncDispose]: async () => void now--,
        };
      },
    },
    { add: async (some) => [...some] },
  );
  const list = async (more: object = {}) => (await made.list({ by: { id: 'ann' }, limit: 10_000, ...more })).decided;
  return { list, opened, pages, warnings, logs, most: () => most };
}

describe('MUT-H37 what was decided, of logs', () => {
  test('has the tool, who has answered last, and what came of the call', async () => {
    const { list } = decidedIn({
      s: [
        called('c'),
        called('d', 'look'),
        answered('c#policy', { by: 'ben', byName: 'ben', timestamp: at(2) }),
        answered('c#policy', { by: 'eve', byName: 'eve', timestamp: at(3) }),
        answered('d#policy', { action: 'decline', timestamp: at(4) }),
        answered('x#policy', { timestamp: at(1) }),
        event('custom', { kind: 'policy_decision', data: { callId: 'c', ruleId: 'r', outcome: 'approved' } }),
        event('custom', { kind: 'policy_decision', data: { callId: 'd', outcome: 'denied' } }),
        event('custom', { kind: 'other', data: { callId: 'd', ruleId: 'no', outcome: 'odd' } }),
        event('tool_response', { requestId: 'c', timestamp: at(5) }),
        event('tool_response', { requestId: 'd', isError: true, errorType: 'denied', timestamp: at(6) }),
      ],
    });
    const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
    const [d, c, x] = await list();
    expect(c).toStrictEqual({
      ...{ requestId: 'c#policy', callId: 'c', action: 'accept', at: at(3), tool: 'pay', by: 'eve', ...place },
      ...{ outcome: 'approved', ruleId: 'r', result: expect.anything(), endedAt: at(5) },
    });
    expect(d).toStrictEqual({
      ...{ requestId: 'd#policy', callId: 'd', action: 'decline', at: at(4), tool: 'look', ...place },
      ...{ outcome: 'denied', result: expect.anything(), endedAt: at(6) },
    });
    expect(x).toStrictEqual({ requestId: 'x#policy', callId: 'x', action: 'accept', at: at(1), ...place });
    expect(c?.result).not.toEqual(d?.result);
  });

  test('names nobody who is not named at last, and is found by all who have answered, each once', async () => {
    const log = [
      called('c'),
      answered('c#policy', { by: 'ben', byName: 'ben' }),
      answered('c#policy', { by: 'ben', byName: 'ben' }),
      answered('c#policy', { by: 'eve', byName: 'eve' }),
      answered('c#policy'),
    ];
    const { list } = decidedIn({ s: log });
    const found = async (answeredBy: string) => (await list({ answeredBy })).length;
    expect([await found('ben'), await found('eve'), await found('ann')]).toEqual([1, 1, 0]);
    expect((await list())[0]).not.toHaveProperty('by');
    const words = async (search: string) => (await list({ search })).length;
    expect([await words('ben eve'), await words('ben ben'), await words('eve ')]).toEqual([1, 0, 0]);
  });

  test('is that of the five hundred sessions that changed last, a hundred at a time, some read at once', async () => {
    const logs = Object.fromEntries(
      Array.from({ length: 501 }, (_, n) => [`s${n}`, [called('c'), answered('c#policy')]]),
    );
    const { list, pages, opened, most } = decidedIn(logs);
    expect(await list()).toHaveLength(500);
    expect(pages).toEqual(
      [undefined, 'ann/s99', 'ann/s199', 'ann/s299', 'ann/s399'].map((after) => ({ limit: 100, after })),
    );
    expect([opened.length, opened.includes('bot/ann/s500'), most()]).toEqual([500, false, 4]);
    await list();
    expect(opened).toHaveLength(500);
  });

  test('is looked for in no more than there are', async () => {
    const { list, pages } = decidedIn({ a: [answered('c#policy')], b: [] });
    expect(await list()).toHaveLength(1);
    expect(pages).toEqual([{ limit: 100, after: undefined }]);
    const full = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`s${n}`, []]));
    const whole = decidedIn(full);
    await whole.list();
    expect(whole.pages).toHaveLength(2);
  });

  test('is not looked for in a session of which no agent is known', async () => {
    const { list, opened } = decidedIn({ a: [answered('c#policy')], b: [answered('c#policy')] }, (id) =>
      id === 'a' ? { agent: undefined } : {},
    );
    expect((await list()).map(({ sessionId }) => sessionId)).toEqual(['b']);
    expect(opened).toEqual(['bot/ann/b']);
  });

  test('is read again where the session has changed, by its time or its length', async () => {
    const times: Record<string, string> = {};
    const { list, opened, logs } = decidedIn({ a: [answered('c#policy')] }, (id) => ({ updatedAt: times[id] ?? '' }));
    await list();
    await list();
    expect(opened).toHaveLength(1);
    times.a = at(9);
    await list();
    expect(opened).toHaveLength(2);
    logs.a?.push(answered('d#policy'));
    expect(await list()).toHaveLength(2);
    expect(opened).toHaveLength(3);
  });
});
