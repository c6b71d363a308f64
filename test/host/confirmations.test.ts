import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/contracts/index.ts';
import { Confirmations } from '../../src/host/questions/confirmation.ts';
import type { AgentHost } from '../../src/index.ts';
import { bot, hostOf, only, policyOf, results, say, tool, whole } from './kit.ts';

function shop() {
  const pay = tool('pay', (_, context) => {
    if (!context?.confirmation) return context?.requestConfirmation({ hint: 'sure?' });
    return 'paid';
  });
  const { host } = hostOf(bot([{ calls: [['pay']] }, 'done', 'else']), { tools: [pay], policy: policyOf({}) });
  return host;
}

describe('ATK2-01 what somebody has confirmed is that call', () => {
  /** `look` asks first, and then calls `wipe` behind itself, which asks first as well. */
  async function confirmed(payload: unknown) {
    const seen: unknown[] = [];
    const asks = (name: string, then: () => unknown) =>
      tool(
        name,
        (_, context) => {
          seen.push([name, context?.confirmation]);
          return context?.confirmation ? then() : context?.requestConfirmation({ hint: `${name}?`, payload });
        },
        { makesTailCalls: true },
      );
    const look = asks('look', () => ({ content: [], tailCalls: [{ name: 'wipe', args: {} }] }));
    const { host } = hostOf(bot([{ calls: [['look']] }, 'done']), {
      tools: [look, asks('wipe', () => 'wiped')],
      policy: policyOf({}),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    const { look: came } = results(await say(session, { kind: 'continue' }));
    await host.close();
    return { seen, came };
  }

  test.each([undefined, { secret: 1 }])('and none that it calls behind itself; payload %j', async (payload) => {
    const { seen, came } = await confirmed(payload);
    expect(seen).toEqual([
      ['look', undefined],
      ['look', { confirmed: true, ...(payload ? { payload } : {}) }],
      ['wipe', undefined],
    ]);
    expect(came).toContain('denied: wipe asks for confirmation');
  });

  test('ATK2-01 sibling: nor the same tool again, behind a tool that is called behind it', async () => {
    const seen: unknown[] = [];
    const wipe = tool(
      'wipe',
      ({ all }, context) => {
        seen.push([all, context?.confirmation?.confirmed]);
        if (!context?.confirmation) return context?.requestConfirmation({ hint: 'wipe?' });
        return {
          content: [],
          tailCalls: [
            { name: 'pass', args: {} },
            { name: 'wipe', args: { all: true } },
          ],
        };
      },
      { makesTailCalls: true },
    );
    const pass = tool('pass', (_, context) => {
      seen.push(['pass', context?.confirmation]);
      return { content: [], tailCalls: [{ name: 'wipe', args: { all: 'too' } }] };
    });
    const { host } = hostOf(bot([{ calls: [['wipe', { all: false }]] }, 'done']), {
      tools: [wipe, pass],
      policy: policyOf({}),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    await say(session, { kind: 'continue' });
    expect(seen).toEqual([
      [false, undefined],
      [false, true],
      ['pass', undefined],
      [true, undefined],
    ]);
    await host.close();
  });
});

type End = (session: Session, host: AgentHost) => Promise<unknown>;

const ends: [string, End][] = [
  [
    'is answered',
    async (session) => {
      await session.respond((await only(session)).requestId, { kind: 'approve' });
      await say(session, { kind: 'continue' });
    },
  ],
  ['is cancelled by a new message', (session) => say(session, 'else')],
  ['is aborted, alone', async (session) => session.abort({ requestId: (await only(session)).requestId })],
  ['is aborted with its session', (session) => session.abort()],
  [
    'is deleted with its session',
    async (session, host) => {
      await session[Symbol.asyncDispose]();
      await host.sessions().delete(session.id);
    },
  ],
];

describe('what a handler asks', () => {
  test.each(ends)('SOAK-4 is kept no longer once it %s', async (_, end) => {
    const host = shop();
    const session = await host.open('bot');
    await say(session, 'go');
    const { confirmations } = whole(session).frame;
    expect(confirmations.size).toBe(1);
    await end(session, host);
    expect(confirmations.size).toBe(0);
    await host.close();
  });

  test('SOAK-4 is asked in the same words where its session was closed meanwhile', async () => {
    const host = shop();
    const session = await host.open('bot');
    await say(session, 'go');
    const before = await only(session);
    await session[Symbol.asyncDispose]();
    const again = await host.open('bot', { sessionId: session.id });
    expect(await only(again)).toEqual(before);
    await again.respond(before.requestId, { kind: 'approve' });
    expect(results(await say(again, { kind: 'continue' }))).toEqual({ pay: 'paid' });
    expect(whole(again).frame.confirmations.size).toBe(0);
    await host.close();
  });

  test('SOAK-4 is kept for the newest thousand of the sessions that are closed, and for all that are open', () => {
    const kept = new Confirmations();
    const asked = { asked: {}, args: {}, first: 0, attempts: 0 };
    kept.set('open', 'c', asked);
    for (let n = 0; n < 1500; n++) {
      kept.set(`s${n}`, 'c', asked);
      kept.close(`s${n}`);
    }
    expect(kept.size).toBe(1001);
    expect([kept.get('open', 'c'), kept.get('s499', 'c'), kept.get('s500', 'c')]).toEqual([asked, undefined, asked]);
  });
});
