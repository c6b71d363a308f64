import type { Kysely } from 'kysely';
import { loadKysely, orAbsence } from './peers.ts';

const packages = ['kysely', 'pg'];

/** A Kysely on a pool of `pg`; both are loaded now. */
export async function openPostgres(url: string, maxConnections: number): Promise<Kysely<unknown>> {
  const { Kysely, PostgresDialect } = await loadKysely(packages);
  const { default: pg } = await loadPg();
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    keepAlive: true,
    // A host that never answers is told of, too.
    connectionTimeoutMillis: 30_000,
    fallback_application_name: 'coxswain',
  });
  // A connection that is lost while nobody uses it is told by its next user; unheard, the event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}

async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg');
  } catch (error) {
    throw orAbsence(error, packages);
  }
}
