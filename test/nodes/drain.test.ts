import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import { newId } from '../../src/base/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { postgresServer } from '../adapters/databases.ts';
import { balancer } from './balancer.ts';
import { faultsOf } from './check-history.ts';
import { cluster, until } from './cluster.ts';

describe.skipIf(postgresServer.skip !== undefined)('a node that is stopped by SIGTERM', () => {
  let database: TestDatabase;
  let nodes: Awaited<ReturnType<typeof cluster>>;
  let front: Awaited<ReturnType<typeof balancer>>;
  let schema: string;
  beforeEach(async () => {
    database = await postgresServer.make();
    schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
    nodes = await cluster(database, schema);
    front = await balancer();
  });
  afterEach(async () => {
    await nodes.close();
    await front.close();
    await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await database.drop();
  });

  const runsAt = async (pid: number) =>
    (await database.query(`SELECT id FROM adk_sessions WHERE owner LIKE '%"pid":${pid},%'`)).map(({ id }) =>
      String(id),
    );

  test('DN-01 takes nothing new, leaves what runs at the next stored event, and its clients continue elsewhere', async () => {
    const one = await nodes.start();
    const outside = await nodes.outside();
    front.add(one.port);
    // A turn of a client and turns of nobody run on the first node, the only one.
    await using remote = await connect(`ws://127.0.0.1:${front.port}/v1`, {
      token: 'ann',
      minBackoffMs: 20,
      maxBackoffMs: 200,
    });
    const id = `c-${newId()}`;
    const session = await remote.open('clerk', { sessionId: id, create: true });
    const seen: { cursor: string; seq: number }[] = [];
    const watching = (async () => {
      for await (const event of session.events({ live: true })) {
        if (event.cursor !== undefined) seen.push({ cursor: event.cursor, seq: event.seq ?? 0 });
        if (event.type === 'stream_end' && event.reason === 'completed') return;
      }
    })();
    const streaming = (async () => {
      for await (const _ of session.stream(`order of ${id}`));
    })().catch(() => {});
    const turns = await Promise.all(Array.from({ length: 6 }, () => nodes.submit(outside)));
    await until(async () => (await runsAt(one.pid)).length >= 3);
    const two = await nodes.start();
    front.add(two.port);
    const ready = async () => (await fetch(`http://127.0.0.1:${one.port}/readyz`).catch(() => undefined))?.status;
    expect(await ready()).toBe(200);
    process.kill(one.pid, 'SIGTERM');
    expect(await one.heard('draining')).toBe(true);
    // As a health check does it: nobody new is sent there.
    await until(async () => (await ready()) !== 200);
    const later = await Promise.all(Array.from({ length: 4 }, () => nodes.submit(outside)));
    front.drop(one.port);
    await one.over;
    expect(one.said.at(-1)).toBe('drained 0');
    await streaming;
    for (const { session: name } of [...turns, ...later]) await nodes.approve(outside, name);
    const [question] = await until(async () => {
      const open = (await outside.approvals.list()).filter(({ request }) => request.sessionId === id);
      return open.length > 0 ? open : undefined;
    });
    const by = { id: 'boss', roles: ['boss'] };
    await outside.approvals.decide(
      question?.request.requestId ?? '',
      { kind: 'approve' },
      { by, sessionId: id, userId: 'ann' },
    );
    for (const { session: name } of [...turns, ...later, { session: id }]) await nodes.ended(name);
    await watching;
    const effects = await database.query('SELECT call_id, tool, pid FROM effects');
    const ofLater = (await Promise.all(later.map(({ session: name }) => nodes.effects(name)))).flat();
    // Nothing was interrupted: each tool ran once, and none of the turns that came after the signal ran on the first node.
    expect(effects.length).toBe(2 * (turns.length + later.length + 1));
    expect(new Set(effects.map(({ call_id }) => call_id)).size).toBe(effects.length);
    expect(new Set(ofLater.map(({ pid }) => pid))).toEqual(new Set([two.pid]));
    expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(seen.length);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).sort((a, b) => a - b));
    const messages = [...turns, ...later, { session: id, words: `order of ${id}` }];
    expect(await faultsOf(database.query, { messages })).toEqual([]);
  });
});
