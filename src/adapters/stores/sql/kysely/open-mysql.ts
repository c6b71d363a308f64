import type { Kysely } from 'kysely';
import { mysqlSession } from '../databases/index.ts';
import { loadKysely, orAbsence } from './peers.ts';

const packages = ['kysely', 'mysql2'];

/** A Kysely on a pool of `mysql2`; both are loaded now. */
export async function openMysql(url: string, maxConnections: number): Promise<Kysely<unknown>> {
  const { CompiledQuery, Kysely, MysqlDialect } = await loadKysely(packages);
  const { default: mysql2 } = await loadMysql();
  const pool = mysql2.createPool({
    uri: url.replace(/^mariadb:/i, 'mysql:'),
    connectionLimit: maxConnections,
    enableKeepAlive: true,
  });
  const dialect = new MysqlDialect({
    pool,
    onCreateConnection: async (connection) => {
      for (const sql of mysqlSession) await connection.executeQuery(CompiledQuery.raw(sql));
    },
  });
  return new Kysely({ dialect });
}

async function loadMysql(): Promise<{ default: typeof import('mysql2') }> {
  try {
    return await import('mysql2');
  } catch (error) {
    throw orAbsence(error, packages);
  }
}
