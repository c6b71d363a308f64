import { noteCommonTime } from '../../../../base/index.ts';
import type { SqlEngine } from './engine.ts';
import { one } from './steps.ts';

/** Epoch milliseconds by the clock of the database, which this program's is held against from here on. */
export async function databaseTime(engine: SqlEngine): Promise<number> {
  const { clock } = engine.dialect;
  const asked = Date.now();
  if (clock === undefined) return asked;
  const row = await engine.transaction('read', () => one(`SELECT ${clock} AS clock`, []));
  const theirs = Number(row?.clock);
  noteCommonTime(theirs, asked);
  return theirs;
}
