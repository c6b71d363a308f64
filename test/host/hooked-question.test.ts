import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource, LifecycleInterceptor } from '../../src/contracts/index.ts';
import { createHost, fromAgent } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { all, bot, notingTool, ofType, only, policyOf } from './kit.ts';

/** Hosts one after the other over one file, whose hook puts its own amount into each call of `pay`. */
function restarts() {
  const folder = mkdtempSync(join(tmpdir(), 'hooked-'));
  const pay = notingTool('pay');
  const begun: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const close of begun) await close();
    rmSync(folder, { recursive: true });
  });
  return {
    pay,
    async open(eur: number | undefined, source?: AgentSource) {
      let fired = 0;
      const hooks: LifecycleInterceptor = {
        supportedHookPoints: () => ['before_tool'],
        fire: () => {
          fired++;
          return { action: 'proceed', modifications: { args: { eur } } };
        },
      };
      const store = openSqlite(join(folder, 'log.db'));
      const agent = bot(begun.length === 0 ? [{ calls: [['pay', { eur: 100 }]] }] : ['done']);
      const host = createHost({
        app: 'shop',
        agents: [source ?? fromAgent(agent)],
        tools: [pay.tool],
        policy: policyOf({ pay: 'ask' }),
        store: store,
        ...(eur === undefined ? {} : { hooks }),
      });
      const close = async () => {
        await host.close();
        await store.close();
      };
      begun.push(close);
      const name = source === undefined ? 'bot' : 'liar';
      const session = await host.open(name, { sessionId: 's', create: true });
      return { host, session, fired: () => fired, close };
    },
  };
}

const sources: [string, () => AgentSource | undefined][] = [
  ['of the runtime', () => undefined],
  ['that is not believed', () => lyingExecutor({ calls: [{ id: 'c1', name: 'pay', args: { eur: 100 } }] })],
];

test.each(sources)('ATK-L2 an executor %s: what a hook made of a call is shown after a restart', async (_, make) => {
  const { pay, open } = restarts();
  const source = make();
  const first = await open(5, source);
  await all(first.session.stream('go'));
  const before = await only(first.session);
  expect(before).toMatchObject({ args: { eur: 5 } });
  await first.close();

  const second = await open(5, source);
  const after = await only(second.session);
  expect(after).toMatchObject({ requestId: before.requestId, args: { eur: 5 } });
  expect(after.approval).toEqual(before.approval);
  // Of executors that keep no index nothing is listed.
  for (const { request } of await second.host.approvals.list()) expect(request).toMatchObject({ args: { eur: 5 } });
  expect(second.fired()).toBe(0);

  const { previewDigest } = after.approval ?? {};
  await second.session.respond(after.requestId, { kind: 'approve', ...(previewDigest ? { previewDigest } : {}) });
  const events = await all(second.session.stream({ kind: 'continue' }));
  expect(ofType(events, 'elicitation_request').filter(({ requestId }) => requestId !== before.requestId)).toEqual([]);
  expect(await second.session.pending()).toEqual([]);
  expect(pay.runs).toEqual([{ eur: 5 }]);
});

test('ATK-L2 a hook that makes something else of the call by now: what was approved does not run', async () => {
  const { pay, open } = restarts();
  const first = await open(5);
  await all(first.session.stream('go'));
  await first.close();

  const second = await open(7);
  const { requestId } = await only(second.session);
  await second.session.respond(requestId, { kind: 'approve' });
  await all(second.session.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([]);
  const again = await only(second.session);
  expect(again.requestId).not.toBe(requestId);
  expect(again).toMatchObject({ args: { eur: 7 } });
  await second.close();

  // Twice changed: the newest counts.
  const third = await open(7);
  expect(await only(third.session)).toMatchObject({ requestId: again.requestId, args: { eur: 7 } });
  await third.session.respond(again.requestId, { kind: 'approve' });
  await all(third.session.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([{ eur: 7 }]);
});

test('ATK-L2 a host without the hook runs what the model asked for, and shows that', async () => {
  const { pay, open } = restarts();
  const first = await open(5);
  await all(first.session.stream('go'));
  await first.close();

  const second = await open(undefined);
  const shown = await only(second.session);
  expect(shown).toMatchObject({ args: { eur: 100 } });
  await second.session.respond(shown.requestId, {
    kind: 'approve',
    previewDigest: shown.approval?.previewDigest ?? '',
  });
  await all(second.session.stream({ kind: 'continue' }));
  expect(pay.runs).toEqual([{ eur: 100 }]);
});
