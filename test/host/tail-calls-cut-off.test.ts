import { describe, expect, test } from 'vitest';
import { auditOf, InMemorySessionService } from '../../src/index.ts';
import { all, bot, door, endOf, hostOf, notingTool, only, policyOf, say, slowTool, tool } from './kit.ts';

const key = { app: 'shop', userId: 'local', id: 's' };

/** What a process leaves behind that is gone now. */
async function leftIn(store: InMemorySessionService): Promise<InMemorySessionService> {
  const left = new InMemorySessionService();
  await left.create(key);
  await left.append(key, [...((await store.get(key))?.events ?? [])]);
  return left;
}

/** A tool whose result asks for `pay`, then for `slow`. */
const find = (annotations: object, calls = ['pay', 'slow']) =>
  tool(
    'find',
    () => ({ content: [{ type: 'text', text: 'found' }], tailCalls: calls.map((name) => ({ name, args: {} })) }),
    { annotations, makesTailCalls: true },
  );

const free = policyOf({ find: 'allow', pay: 'allow', slow: 'allow' });

describe.each([
  ['readOnly', { readOnly: true }],
  ['idempotent', { idempotent: true }],
])('ATK-03 a %s tool whose tail call may not run twice', (_, annotations) => {
  test('is asked about where a crash cut it off, and each approval runs it once', async () => {
    let store = new InMemorySessionService();
    const payments: unknown[] = [];
    const pay = tool('pay', () => void payments.push('paid'));
    for (let crashes = 0; crashes < 2; crashes++) {
      const slow = slowTool('slow');
      const { host } = hostOf(bot(crashes === 0 ? [{ calls: [['find']] }, 'done'] : ['done']), {
        store,
        tools: [find(annotations), pay, slow.tool],
        policy: free,
      });
      const session = await host.open('bot', { sessionId: 's', create: true });
      if (crashes > 0) {
        const { kind, requestId } = await only(session);
        expect(kind).toBe('rerun_unknown');
        await session.respond(requestId, { kind: 'approve' });
      }
      const going = say(session, crashes === 0 ? 'go' : { kind: 'continue' });
      await slow.started;
      const left = await leftIn(store);
      slow.finish('over');
      await going;
      await host.close();
      store = left;
    }
    expect(payments).toHaveLength(2);
    const slow = notingTool('slow');
    const { host } = hostOf(bot(['done']), { store, tools: [find(annotations), pay, slow.tool], policy: free });
    const session = await host.open('bot', { sessionId: 's' });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(payments).toHaveLength(2);
    // What had begun is on record.
    const [entry] = await auditOf(await all(session.events()));
    expect(entry).toMatchObject({ tool: 'find', startedAt: [expect.any(String), expect.any(String)] });
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
    expect([payments.length, slow.runs.length]).toEqual([3, 1]);
    await host.close();
  });

  test('runs again without a question where nothing but itself had begun', async () => {
    const store = new InMemorySessionService();
    const began = door();
    const never = new Promise<never>(() => {});
    const begin = () => {
      began.open();
      return never;
    };
    const hangs = tool('find', begin, { annotations });
    const { host } = hostOf(bot([{ calls: [['find']] }, 'done']), { store, tools: [hangs], policy: free });
    const session = await host.open('bot', { sessionId: 's', create: true });
    const going = say(session, 'go').catch(() => {});
    await began.opened;
    const left = await leftIn(store);
    await session.abort();
    await going;
    await host.close();
    const pay = notingTool('pay');
    const next = hostOf(bot(['done']), { store: left, tools: [find(annotations, ['pay']), pay.tool], policy: free });
    const again = await next.host.open('bot', { sessionId: 's' });
    expect(endOf(await say(again, { kind: 'continue' })).reason).toBe('completed');
    expect(pay.runs).toHaveLength(1);
    await next.host.close();
  });
});
