import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { postgresServer } from '../adapters/databases.ts';
import { faultsOf } from './check-history.ts';
import { cluster, until } from './cluster.ts';

describe.skipIf(postgresServer.skip !== undefined)(
  'a rolling deploy, from version 1 to version 2, with open questions',
  () => {
    let database: TestDatabase;
    let nodes: Awaited<ReturnType<typeof cluster>>;
    let schema: string;
    beforeEach(async () => {
      database = await postgresServer.make();
      schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
      nodes = await cluster(database, schema);
    });
    afterEach(async () => {
      await nodes.close();
      await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await database.drop();
    });

    /** A turn that version 1 has brought to its question; then version 2 takes the place of version 1. */
    async function rolled(onAgentChanged: 'go' | 'ask' | 'hold') {
      const one = await nodes.start({ version: '1', onAgentChanged });
      const before = await nodes.outside({ version: '1', onAgentChanged });
      const turn = await nodes.submit(before);
      await until(async () => (await before.approvals.list()).length > 0);
      const two = await nodes.start({ version: '2', onAgentChanged });
      process.kill(one.pid, 'SIGTERM');
      await one.over;
      expect(one.said).toContain('drained 0');
      return { turn, before, two };
    }

    const versionsOf = async (session: string) =>
      (
        await database.query(
          `SELECT DISTINCT substring(actions || custom_metadata FROM '"version":"([^"]+)"') AS version FROM adk_events
          WHERE session_id = '${session}' AND actions || custom_metadata LIKE '%"version":%' ORDER BY 1`,
        )
      ).map(({ version }) => version);

    const clean = async (turn: { session: string; words: string }) =>
      expect(await faultsOf(database.query, { messages: [turn] })).toEqual([]);

    test('RD-01 ask: an answer that a page of version 1 gave is asked for again, and version 2 runs the call once', async () => {
      const { turn, before, two } = await rolled('ask');
      await nodes.approve(before, turn.session);
      const after = await nodes.outside({ version: '2' });
      // It asks again: nothing has run until somebody answers what version 2 shows.
      await until(async () => (await versionsOf(turn.session)).length === 2);
      expect((await nodes.effects(turn.session)).filter(({ tool }) => tool === 'pay')).toEqual([]);
      await nodes.approve(after, turn.session);
      await nodes.ended(turn.session);
      const pays = (await nodes.effects(turn.session)).filter(({ tool }) => tool === 'pay');
      expect(pays.map(({ pid }) => pid)).toEqual([two.pid]);
      await clean(turn);
    });

    test('RD-02 go: the answer counts, and version 2 runs the call', async () => {
      const { turn, before, two } = await rolled('go');
      await nodes.approve(before, turn.session);
      await nodes.ended(turn.session);
      const pays = (await nodes.effects(turn.session)).filter(({ tool }) => tool === 'pay');
      expect(pays.map(({ pid }) => pid)).toEqual([two.pid]);
      expect(await versionsOf(turn.session)).toEqual(['1', '2']);
      await clean(turn);
    });

    test('RD-03 hold: version 2 says so and leaves it, until a node of version 1 is there', async () => {
      const { turn, before, two } = await rolled('hold');
      await nodes.approve(before, turn.session);
      expect(await two.heard(`session ${turn.session} is held`)).toBe(true);
      expect((await nodes.effects(turn.session)).filter(({ tool }) => tool === 'pay')).toEqual([]);
      const back = await nodes.start({ version: '1', onAgentChanged: 'hold' });
      await nodes.ended(turn.session);
      const pays = (await nodes.effects(turn.session)).filter(({ tool }) => tool === 'pay');
      expect(pays.map(({ pid }) => pid)).toEqual([back.pid]);
      expect(await versionsOf(turn.session)).toEqual(['1']);
      await clean(turn);
    });
  },
);
