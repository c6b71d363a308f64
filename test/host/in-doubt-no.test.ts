import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { HookResult, LifecycleInterceptor } from '../../src/contracts/index.ts';
import { createHost, fromAgent, InMemorySessionService, rulePolicy } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { all, bot, endOf, hostOf, notingTool, ofType, only, policyOf, refusal, say } from './kit.ts';

const payOnce = () => bot([{ calls: [['pay', { eur: 5 }]] }, 'done']);

test.each(['defer', 'Decline', ''])(
  'ATT-18 an answer in the log that says %j is no yes: the log is damaged',
  async (action) => {
    const folder = mkdtempSync(join(tmpdir(), 'doubt-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'log.db');
    const pay = notingTool('pay');
    const policy = policyOf({ pay: 'ask' });
    const store = openSqlite(path);
    const first = hostOf(payOnce(), { store, tools: [pay.tool], policy });
    const session = await first.host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'deny' });
    await first.host.close();
    await store.close();
    const rows = new DatabaseSync(path);
    const said = JSON.stringify(action);
    for (const column of ['custom_metadata', 'actions']) {
      rows.exec(`UPDATE adk_events SET ${column} = replace(${column}, '"decline"', '${said}')`);
    }
    rows.close();
    const again = openSqlite(path);
    const second = hostOf(bot(['done']), { store: again, tools: [pay.tool], policy });
    expect(await refusal(second.host.open('bot', { sessionId: 's' }))).toMatchObject({
      status: 'DATA_LOSS',
      code: 'E_STORE',
      message: expect.stringContaining('answers'),
    });
    expect(pay.runs).toEqual([]);
    await second.host.close();
    await again.close();
  },
);

test('ATT-18 nor is one that a host noted of an executor that it does not believe', async () => {
  const store = new InMemorySessionService();
  const { journal } = store;
  const pay = notingTool('pay');
  const source = lyingExecutor({ calls: [{ id: 'c1', name: 'pay', args: {} }] });
  const hostNow = () =>
    createHost({
      app: 'shop',
      agents: [source],
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      sessions: store,
      warn: () => {},
    });
  const session = await hostNow().open('liar', { sessionId: 's', create: true });
  await all(session.stream('go'));
  await session.respond((await only(session)).requestId, { kind: 'deny' });
  const read = journal.read.bind(journal);
  journal.read = async (...given) => {
    const { id, records } = await read(...given);
    return { id, records: JSON.parse(JSON.stringify(records).replaceAll('"decline"', '"defer"')) };
  };
  const again = await hostNow().open('liar', { sessionId: 's' });
  const events = await all(again.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'stream_end' });
});

test('ATT-20 a question that a stricter host has put since holds where a laxer one goes on', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const hostNow = (approvers?: object) =>
    hostOf(payOnce(), {
      store,
      tools: [pay.tool],
      policy: rulePolicy([{ id: 'p', tool: 'pay', outcome: 'ask', ...(approvers ? { approvers } : {}) }]),
    }).host;
  const lax = await hostNow().open('bot', { sessionId: 's', create: true });
  await say(lax, 'go');
  await lax.respond((await only(lax)).requestId, { kind: 'approve' });
  const strict = await hostNow({ roles: ['boss'] }).open('bot', { sessionId: 's' });
  await all(strict.stream({ kind: 'continue' }));
  const asked = await only(strict);
  expect(asked.approval?.approvers).toEqual({ roles: ['boss'] });

  expect(endOf(await all(lax.stream({ kind: 'continue' }))).reason).toBe('input_required');
  expect(pay.runs).toEqual([]);
  expect(await only(lax)).toMatchObject({ requestId: asked.requestId, approval: { approvers: { roles: ['boss'] } } });
  expect(await refusal(lax.respond(asked.requestId, { kind: 'approve' }))).toMatchObject({ code: 'E_NOT_APPROVER' });
  await lax.respond(asked.requestId, { kind: 'approve', by: { id: 'bea', roles: ['boss'] } });
  await all(lax.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([{ eur: 5 }]);
});

const guard = (said: (eur: number) => HookResult | undefined) => {
  const saw: number[] = [];
  const hooks: LifecycleInterceptor = {
    supportedHookPoints: () => ['before_tool'],
    fire: (_, payload) => {
      const { eur } = (payload as { args: { eur: number } }).args;
      saw.push(eur);
      return said(eur);
    },
  };
  return { hooks, saw };
};

test.each<[string, (eur: number) => HookResult | undefined, number[], string | undefined]>([
  ['refuses', (eur) => (eur > 100 ? { action: 'block', reason: 'too much' } : undefined), [], 'too much'],
  ['lets through', () => undefined, [5000], undefined],
  [
    'makes others of',
    (eur) => (eur > 100 ? { action: 'proceed', modifications: { args: { eur: 100 } } } : undefined),
    [],
    'nobody has approved what it makes of them',
  ],
  ['leaves as they are', (eur) => ({ action: 'proceed', modifications: { args: { eur } } }), [5000], undefined],
])('ATT-21 edited arguments pass the before_tool hook: those that it %s', async (_, said, paid, reason) => {
  const { hooks, saw } = guard(said);
  const pay = notingTool('pay');
  const { host } = hostOf(payOnce(), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }), hooks });
  const session = await host.open('bot');
  await say(session, 'go');
  const { requestId } = await only(session);
  await session.respond(requestId, { kind: 'approve', args: { eur: 5000 } });
  expect(saw).toEqual([5]);
  const events = await say(session, { kind: 'continue' });
  expect(saw).toEqual([5, 5000]);
  expect(pay.runs.map(({ eur }) => eur)).toEqual(paid);
  if (reason !== undefined) {
    expect(ofType(events, 'tool_response')).toMatchObject([
      { errorType: 'denied', content: [{ text: expect.stringContaining(reason) }] },
    ]);
  }
});

test('ATT-21 the hooks of an agent are asked of edited arguments, too, where no host is', async () => {
  const pay = notingTool('pay', { needsApproval: true });
  const agent = bot([{ calls: [['pay', { eur: 5 }]] }, 'done'], {
    tools: [pay.tool],
    beforeTool: (_, __, args) =>
      Number((args as { eur: number }).eur) > 100 ? { action: 'block', reason: 'too much' } : undefined,
  });
  const session = await fromAgent(agent).open({ sessionId: 's', create: true }, { app: 'shop' });
  await all(session.stream('go'));
  const { requestId } = await only(session);
  await session.respond(requestId, { kind: 'approve', args: { eur: 5000 } });
  const events = await all(session.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([]);
  expect(ofType(events, 'tool_response')).toMatchObject([{ errorType: 'denied' }]);
  await session[Symbol.asyncDispose]();
});

test.each<[string, () => void]>([
  [
    'throws',
    () => {
      throw new Error('the log cannot be written');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the log cannot be written')) as never],
])('ATT-14 a warn that %s has no effect on what it is told of', async (_, warn) => {
  const told = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  const hooks: LifecycleInterceptor = {
    supportedHookPoints: () => ['after_tool'],
    fire: () => {
      throw new Error('no hook');
    },
  };
  const pay = notingTool('pay');
  const { host } = hostOf(payOnce(), { tools: [pay.tool], policy: policyOf({}), hooks, warn });
  const session = await host.open('bot');
  const events = await say(session, 'go');
  expect(endOf(events).reason).toBe('completed');
  expect(ofType(events, 'tool_response')).toMatchObject([{ content: [{ text: 'pay done' }] }]);
  expect(await session.pending()).toEqual([]);
  await expect
    .poll(() => told.mock.calls.map(([text]) => String(text)))
    .toEqual([expect.stringMatching(/after_tool hook failed on pay \(warn has failed: the log cannot be written\)/)]);
});
