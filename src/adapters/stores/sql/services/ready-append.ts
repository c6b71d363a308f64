import { breath, Pace } from '../../../../base/index.ts';
import type { StoredEvent } from '../../../../runtime/index.ts';
import { sealEvent } from '../../../../runtime/index.ts';
import type { SqlDialect, Value } from '../statements/index.ts';
import { eventValues } from '../statements/index.ts';
import type { IndexChanges, OpenIndex } from './open-index.ts';

/**
 * What an append of a large event writes, but for the places of events in the log, which are known in the transaction:
 * here they are counted from 0.
 */
export interface ReadyAppend {
  /** Sealed, without partial ones. */
  readonly events: readonly StoredEvent[];
  readonly rows: readonly (readonly Value[])[];
  readonly changes: IndexChanges;
}

/**
 * Makes it in pieces, before the transaction: what is left for that is the database's work.
 * @throws CoxswainError as `sealEvent`
 */
export async function prepare(
  events: readonly StoredEvent[],
  dialect: SqlDialect,
  open: OpenIndex,
): Promise<ReadyAppend> {
  const pace = new Pace();
  const sealed: StoredEvent[] = [];
  for (const event of events) {
    if (event.partial) continue;
    sealed.push(sealEvent(event, sealed.length));
    const rest = pace.rest();
    if (rest) await rest;
  }
  const rows: Value[][] = [];
  for (const event of sealed) {
    rows.push(eventValues(event, dialect));
    const rest = pace.rest();
    if (rest) await rest;
  }
  const changes = open.changes(sealed);
  await breath();
  return { events: sealed, rows, changes };
}
