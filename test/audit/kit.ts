import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { PolicyRule } from '../../src/host/index.ts';
import { rulePolicy } from '../../src/host/index.ts';
import type { SessionKey, SessionService } from '../../src/runtime/index.ts';
import { bot, hostOf, notingTool, readOnly, say } from '../host/kit.ts';

/** A folder for a test's database, gone with `remove`. */
export function folder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-audit-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const rules: PolicyRule[] = [
  { id: 'no-drops', tool: 'drop', args: { '/force': { const: true } }, outcome: 'deny', reason: 'Never.' },
  { id: 'pay', tool: 'pay', outcome: 'ask', reason: 'Money.' },
  { id: 'reads', tool: 'look', outcome: 'allow' },
];

export const tools = () => [notingTool('pay').tool, notingTool('look', readOnly).tool, notingTool('drop').tool];

/**
 * A session with one of everything: a call that runs at once, one that policy denies, one that bob approves with
 * other arguments and one that he declines.
 */
export async function paidSession(store: SessionService): Promise<SessionKey> {
  const calls = [
    ['pay', { eur: 5, card: { number: 'no. 4711' } }],
    ['look'],
    ['drop', { force: true }],
    ['pay', { eur: 9 }],
  ];
  const { host } = hostOf(bot([{ calls: calls as [string, object][] }, 'done']), {
    store,
    tools: tools(),
    policy: rulePolicy(rules),
  });
  const session = await host.open('bot', { principal: { id: 'ann', roles: ['clerk'] } });
  await say(session, 'go');
  const by = { id: 'bob', roles: ['finance'] };
  for (const { requestId, approval, args } of (await session.pending()).filter(({ kind }) => kind !== 'tool')) {
    if (args?.eur === 9) await session.respond(requestId, { kind: 'deny', reason: 'Too much.', by });
    else {
      const edited = { eur: 4, card: { number: 'no. 4711' } };
      const digest = approval?.previewDigest ?? '';
      await session.respond(requestId, { kind: 'approve', previewDigest: digest, args: edited, reason: 'Fine.', by });
    }
  }
  await say(session, { kind: 'continue' });
  await host.close();
  return { app: 'shop', userId: 'local', id: session.id };
}

/** A stored session, and the rows of its log for whoever tampers with them. */
export async function tamperable(path: string): Promise<{
  file: string;
  key: SessionKey;
  sql(text: string, ...values: (string | number)[]): void;
  rows(): { seq: number; id: string; custom_metadata: string | null; content: string | null }[];
  sessions(): Record<string, unknown>[];
  store(): SessionService;
}> {
  const file = join(path, 'log.db');
  const store = openSqlite(file);
  const key = await paidSession(store);
  await store.close();
  const using = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  return {
    file,
    key,
    sql: (text, ...values) => {
      using((db) => db.prepare(text).run(...values));
    },
    rows: () => using((db) => db.prepare('SELECT * FROM adk_events ORDER BY seq').all()) as never,
    sessions: () => using((db) => db.prepare('SELECT * FROM adk_sessions').all()),
    store: () => openSqlite(file),
  };
}
