import type { Kysely } from 'kysely';
import type { SqlServiceOptions } from './services/index.ts';
import type { SqlDialect } from './statements/index.ts';

export interface SqlOptions extends SqlServiceOptions {
  /** Make the tables, or bring them up to date. Default true; needs the right to do so. */
  migrate?: boolean;
  /** Connections of a pool that is opened here. Default 10, at least 2: one of them holds the locks. */
  maxConnections?: number;
  /** Of a given Kysely; needed only where it cannot be told. */
  dialect?: SqlDialect['name'];
  /**
   * Whose connections hold the locks of running sessions: a Kysely, or a URL. Needed where the first argument leads
   * to a pooler that hands out connections by transaction; locks need connections that stay.
   */
  locks?: Kysely<unknown> | string;
}
