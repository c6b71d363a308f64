import type { CheckpointStore, SessionKey, StoredCheckpoint } from '../../../../runtime/index.ts';
import { checkKey } from '../../../../runtime/index.ts';
import type { SqlEngine, Steps } from '../statements/index.ts';
import { OF_SESSION, one, runStatement, values, WHERE_SESSION } from '../statements/index.ts';

/** What logs have come to, one row a session. Each can be made again from its log. */
export class SqlCheckpoints implements CheckpointStore {
  readonly #ready: () => SqlEngine;

  /** `ready` gives the engine, or throws if it is closed. */
  constructor(ready: () => SqlEngine) {
    this.#ready = ready;
  }

  async newest(key: SessionKey): Promise<StoredCheckpoint | undefined> {
    const engine = this.#ready();
    checkKey(key);
    const sql = `SELECT seq, digest, data FROM adk_checkpoints ${OF_SESSION}`;
    const row = await engine.transaction('single', () => one(sql, values(key)));
    return row && { seq: Number(row.seq), digest: String(row.digest), data: String(row.data) };
  }

  async keep(key: SessionKey, checkpoint: StoredCheckpoint): Promise<void> {
    const engine = this.#ready();
    checkKey(key);
    // What a power cut takes back is made again.
    await engine.transaction('lease', () => keep(key, checkpoint));
  }
}

function* keep(key: SessionKey, { seq, digest, data }: StoredCheckpoint): Steps<void> {
  // The row's lock first: whoever deletes the session comes before this or after it.
  const isThere = `UPDATE adk_sessions SET owner = owner ${WHERE_SESSION} AND last_seq >= ?`;
  if ((yield* runStatement(isThere, [...values(key), seq])) === 0) return;
  const known = yield* one(`SELECT seq FROM adk_checkpoints ${OF_SESSION}`, values(key));
  if (known && Number(known.seq) >= seq) return;
  yield* forgetCheckpoint(key);
  yield* runStatement(
    'INSERT INTO adk_checkpoints (app_name, user_id, session_id, seq, digest, data) VALUES (?, ?, ?, ?, ?, ?)',
    [...values(key), seq, digest, data],
  );
}

export function* forgetCheckpoint(key: SessionKey): Steps<void> {
  yield* runStatement(`DELETE FROM adk_checkpoints ${OF_SESSION}`, values(key));
}
