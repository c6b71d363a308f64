import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import type { HostedSession } from '../../src/host/hosted/index.ts';
import { createHost } from '../../src/index.ts';
import { startChild } from '../adapters/processes.ts';
import { asker, clerk, policy } from './killed-questions-kit.ts';
import { follow, only, refusal, say, whole } from './kit.ts';

/** A session whose call has asked in a process that was killed then, opened here: what was asked, and what is paid here. */
async function afterKill(how: 'elicit' | 'confirm', payload: object) {
  const folder = mkdtempSync(join(tmpdir(), 'killed-'));
  const path = join(folder, 'log.db');
  const child = startChild(join('..', 'host', 'killed-questions-child.ts'), path, how);
  const [word, requestId = '', digest = ''] = ((await child.next()) ?? '').split(' ');
  expect(word).toBe('asked');
  await child.kill();
  const paid: string[] = [];
  const store = openSqlite(path);
  const host = createHost({
    app: 'shop',
    agents: [clerk(true)],
    tools: [asker(how, payload, (line) => paid.push(line))],
    policy,
    store,
    warn: () => {},
  });
  onTestFinished(async () => {
    await host.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const session = await host.open('clerk', { sessionId: 's' });
  return { session, dead: { requestId, digest }, paid };
}

const closed = ['E_REQUEST_CLOSED', 'E_UNKNOWN_REQUEST'];

/** The call is asked about as lost, under an id of its own. */
async function lost(session: Pick<HostedSession, 'pending'>, dead: string): Promise<string> {
  const { kind, requestId } = await only(session as HostedSession);
  expect(kind).toBe('rerun_unknown');
  expect(requestId).not.toBe(dead);
  return requestId;
}

test('ATT-25 an answer to what a handler asked whose process was killed is none to the call, nor to what its next run asks', async () => {
  const { session, dead, paid } = await afterKill('elicit', {});
  const yes = { kind: 'elicitation' as const, action: 'accept' as const };
  expect(closed).toContain((await refusal(session.respond(dead.requestId, yes))).code);
  await say(session, { kind: 'continue' });
  const again = await lost(session, dead.requestId);
  expect(closed).toContain((await refusal(session.respond(dead.requestId, yes))).code);
  expect(paid).toEqual([]);
  await session.respond(again, { kind: 'approve' });
  const run = follow(session, { kind: 'continue' });
  const asked = await run.seen('elicitation_request', ({ message }) => message === 'Really pay?');
  expect(asked.requestId).not.toBe(dead.requestId);
  expect(closed).toContain((await refusal(session.respond(dead.requestId, yes))).code);
  expect(paid).toEqual([]);
  await session.respond(asked.requestId, { kind: 'elicitation', action: 'decline' });
  await run.ended;
  expect(paid).toEqual([]);
});

test('ATT-26 a yes to what a handler wanted confirmed, whose process was killed, is none to a call of which nobody knows what it asks', async () => {
  // The program that goes on asks for something else.
  const { session, dead, paid } = await afterKill('confirm', { account: 'root' });
  const yes = { kind: 'approve' as const, previewDigest: dead.digest };
  expect(dead.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(closed).toContain((await refusal(session.respond(dead.requestId, yes))).code);
  await whole(session).resume();
  const again = await lost(session, dead.requestId);
  expect((await refusal(session.respond(again, yes))).code).toBe('E_PREVIEW_CHANGED');
  expect(paid).toEqual([]);
  await session.respond(again, { kind: 'approve' });
  await whole(session).resume();
  const now = await only(session);
  expect(now).toMatchObject({ message: 'Sure?', context: { payload: { account: 'root' } } });
  expect(now.requestId).not.toBe(dead.requestId);
  expect((await refusal(session.respond(now.requestId, yes))).code).toBe('E_PREVIEW_CHANGED');
  expect(paid).toEqual([]);
  await session.respond(now.requestId, { kind: 'approve', previewDigest: now.approval?.previewDigest ?? '' });
  await whole(session).resume();
  expect(paid).toEqual(['paid']);
});
