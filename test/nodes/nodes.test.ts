import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { postgresServer } from '../adapters/databases.ts';
import { ownRestate } from './dispatchers.ts';
import { killNodes } from './kill-nodes.ts';
import { restateProgram } from './restate-server.ts';

describe.skipIf(postgresServer.skip !== undefined)('nodes over one PostgreSQL', () => {
  let database: TestDatabase;
  const schema = `queue_${newId().replaceAll('-', '').slice(0, 12)}`;
  beforeAll(async () => {
    database = await postgresServer.make();
  });
  afterAll(async () => {
    await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await database.drop();
  });

  test('ND-01 killed and frozen in model, tool, pause and append: nothing is lost, nothing finished runs again, nothing is stuck', async () => {
    const plan = [
      ['tool', 'SIGKILL'],
      ['model', 'SIGSTOP'],
      ['pause', 'SIGKILL'],
      ['append', 'SIGSTOP'],
    ] as const;
    const killed = await killNodes(database, schema, { nodes: 2, rounds: 4, plan, seed: 7, submitted: 3, clients: 1 });
    expect(killed.kills).toEqual(plan.map(([phase, signal]) => ({ phase, signal })));
    expect(killed.takeovers.length).toBeGreaterThan(0);
  }, 300_000);

  test.skipIf(restateProgram === undefined)(
    'ND-02 the same where Restate brings the turns',
    async () => {
      const plan = [
        ['tool', 'SIGKILL'],
        ['model', 'SIGSTOP'],
      ] as const;
      const restate = await ownRestate();
      const own = await postgresServer.make();
      try {
        const { word, behind } = restate;
        const options = { nodes: 2, rounds: 2, plan, seed: 7, submitted: 3, clients: 1, behind };
        expect((await killNodes(own, word, options)).takeovers.length).toBeGreaterThan(0);
      } finally {
        await restate.close();
        await own.drop();
      }
    },
    300_000,
  );
});
