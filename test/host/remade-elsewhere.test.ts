import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AnyTool } from '../../src/contracts/index.ts';
import type { Agent } from '../../src/index.ts';
import { all, bot, door, hostOf, notingTool, openIds, readOnly, say, slowTool, tool } from './kit.ts';

const key = { app: 'test', userId: 'local', id: 's' };
const by = { id: 'local' };

/** Two hosts, each with a connection of its own, as two programs have. */
function twoHosts(first: Agent, second: Agent, tools: AnyTool[]) {
  const folder = mkdtempSync(join(tmpdir(), 'remade-'));
  const stores = [openSqlite(join(folder, 'log.db')), openSqlite(join(folder, 'log.db'))] as const;
  const here = hostOf(first, { app: key.app, store: stores[0], tools, warn: () => {} }).host;
  const there = hostOf(second, { app: key.app, store: stores[1], tools, warn: () => {} }).host;
  return {
    here,
    there,
    deleted: () => stores[1].delete(key),
    async [Symbol.asyncDispose]() {
      await here.close();
      await there.close();
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test('ATK10-03 the mode that a program has opened a session with does not hold in the one that is made under its id later', async () => {
  const pay = notingTool('pay');
  const pays = { calls: [['pay', {}]] as const };
  await using hosts = twoHosts(bot([pays, 'done']), bot([pays]), [pay.tool]);
  const { here, there } = hosts;
  // It stays open, and asks nobody.
  await here.open('bot', { sessionId: 's', create: true, permissionMode: 'autonomous' });
  await hosts.deleted();
  const made = await there.open('bot', { sessionId: 's', create: true });
  await say(made, 'pay');
  const [requestId = ''] = await openIds(made);
  await made[Symbol.asyncDispose]();
  await here.approvals.decide(requestId, 'approve', { by });
  await here.idle();
  // The call that was approved has run, and the next one is asked about.
  expect(pay.runs).toHaveLength(1);
  expect((await there.approvals.list()).map(({ request }) => request.name)).toEqual(['pay']);
});

test('ATK10-04 a run of a session that was deleted keeps nobody from deciding in the one that was made since', async () => {
  const [look, pay] = [slowTool('look', readOnly), notingTool('pay')];
  const pays = { calls: [['pay', {}]] as const };
  await using hosts = twoHosts(bot([{ calls: [['look', {}]] }, 'done']), bot([pays]), [look.tool, pay.tool]);
  const { here, there } = hosts;
  const old = await here.open('bot', { sessionId: 's', create: true });
  const ended = all(old.stream('look'));
  await look.started;
  await hosts.deleted();
  const made = await there.open('bot', { sessionId: 's', create: true });
  await say(made, 'pay');
  await made[Symbol.asyncDispose]();
  const [question] = await here.approvals.list();
  expect(question?.request.name).toBe('pay');
  await here.approvals.decide(question?.request.requestId ?? '', 'approve', { by });
  await here.idle();
  expect(pay.runs).toHaveLength(1);
  look.finish('seen');
  await ended;
});

test('ATK10-06 what a run of a session that was deleted asks is not shown in the one that was made since', async () => {
  const asking = door();
  const ask = tool(
    'ask',
    async (_, context) => {
      const reply = context.elicit?.({ message: 'How much?' });
      asking.open();
      return (await reply)?.action;
    },
    readOnly,
  );
  await using hosts = twoHosts(bot([{ calls: [['ask', {}]] }, 'done']), bot(['hello']), [ask]);
  const { here, there } = hosts;
  const old = await here.open('bot', { sessionId: 's', create: true });
  const streamed = old.stream('ask');
  const asked = door<string>();
  const ended = (async () => {
    for await (const event of streamed) if (event.type === 'elicitation_request') asked.open(event.requestId);
  })();
  const requestId = await asked.opened;
  expect(await openIds(old)).toContain(requestId);
  await hosts.deleted();
  await say(await there.open('bot', { sessionId: 's', create: true }), 'hello');
  expect(await openIds(await here.open('bot', { sessionId: 's' }))).toEqual([]);
  await here.close();
  await ended.catch(() => {});
});
