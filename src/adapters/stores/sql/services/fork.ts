import { breath } from '../../../../base/index.ts';
import { isCoxswainError } from '../../../../contracts/index.ts';
import type { SessionKey, SessionRecord, Settle, StoredEvent } from '../../../../runtime/index.ts';
import { Cuts, foldState, newId, noFacts, OpenCallFold, QuestionBook, storeInput } from '../../../../runtime/index.ts';
import type { LongWrite, SqlEngine, Steps, Value } from '../statements/index.ts';
import { damaged } from '../statements/index.ts';
import type { CopiedLog, Copies, Draft } from './copies.ts';
import { addSome } from './session-facts.ts';
import type { Writes } from './writes.ts';

/** Events that are read at once: some milliseconds of decoding. */
const PAGE = 64;
/** Events that are looked through at once for markers of rewinds. */
const LOOK = 1024;
/** Events whose copy is worth a thread. */
const LONG = 512;

/** What copies are made with. */
export interface Workshop {
  /** @throws CoxswainError where the store was closed meanwhile */
  readonly engine: () => SqlEngine;
  readonly tables: Writes;
  readonly copies: Copies;
}

interface Read extends CopiedLog {
  /** Ends the copy. */
  readonly end: () => Steps<readonly StoredEvent[]>;
}

/**
 * Copies a log in pages, between which others have the event loop and the database. Nobody sees the copy before the last
 * transaction, which settles it.
 */
export async function forkInPages(
  shop: Workshop,
  source: SessionKey,
  target: SessionKey,
  through: number | undefined,
  settle: Settle,
): Promise<SessionRecord> {
  const { engine, tables, copies } = shop;
  const token = newId();
  const draft = await engine().transaction('draft', () => copies.begin(source, target, token, through));
  const writing = draft.lastSeq > LONG ? engine().writeMuch?.() : undefined;
  try {
    if (draft.isTakenOver) await removeEvents(shop, target, token, true);
    const read = await copyAll(shop, draft, settle, writing);
    await writing?.flush();
    return await engine().transaction('write', function* () {
      yield* copies.finish(draft, read);
      const more = yield* read.end();
      storeInput.append(more, undefined);
      return yield* tables.recordWith(target, yield* tables.append(target, more, {}));
    });
  } catch (error) {
    // What cannot be taken away now goes with whatever takes the id next: the first error is the one to know.
    await removeEvents(shop, target, token, false).catch(() => {});
    throw error;
  } finally {
    writing?.end();
  }
}

async function copyAll(
  { engine, tables, copies }: Workshop,
  draft: Draft,
  settle: Settle,
  writing: LongWrite | undefined,
): Promise<Read> {
  const { source, target, lastSeq, initialState } = draft;
  const cuts = new Cuts(await rewindsOf(engine, tables, source, lastSeq));
  const state = { ...initialState };
  const calls = new OpenCallFold();
  const facts = noFacts();
  const questions = new QuestionBook();
  const pages = settle.inPages?.(initialState);
  const whole: StoredEvent[] = [];
  const { rowsPerCopy } = tables.dialect;
  for (let from = 0; from < lastSeq; from += PAGE) {
    const to = Math.min(lastSeq, from + PAGE);
    if (from % rowsPerCopy === 0) {
      const turn = writing?.turn();
      if (turn) await turn;
      await engine().transaction('draft', () => copies.page(draft, from, Math.min(lastSeq, from + rowsPerCopy)));
      await breath();
    }
    const events = await engine().transaction('single', () => tables.events(target, from, to));
    if (events.length !== to - from) {
      // Somebody may be taking them away.
      await engine().transaction('draft', () => copies.hold(draft));
      throw damaged(target, `${events.length} of its events ${from + 1} to ${to} are there`);
    }
    foldState(state, events);
    addSome(facts, events);
    const counting = cuts.counting(events);
    calls.add(counting);
    questions.add(counting);
    if (pages) pages.see(events, counting);
    else for (const event of events) whole.push(event);
    await breath();
  }
  const end = function* (): Steps<readonly StoredEvent[]> {
    return pages ? pages.end() : settle(yield* tables.recordWith(target, whole));
  };
  return { state, calls, facts, questions, end };
}

async function rewindsOf(engine: () => SqlEngine, tables: Writes, source: SessionKey, lastSeq: number) {
  const found: { seq: number; through: number }[] = [];
  for (let from = 0; from < lastSeq; from += LOOK) {
    const to = Math.min(lastSeq, from + LOOK);
    for (const marker of await engine().transaction('single', () => tables.rewinds(source, from, to)))
      found.push(marker);
    if (to < lastSeq) await breath();
  }
  return found;
}

/**
 * Takes away a copy that somebody has begun under this id, or that was begun and left by a process that has died.
 * @param condition which ones, with its values; default any
 * @returns whether there was one
 */
export async function removeDraft(
  shop: Workshop,
  target: SessionKey,
  condition = '',
  given: readonly Value[] = [],
): Promise<boolean> {
  const token = newId();
  const { engine, copies } = shop;
  if (!(await engine().transaction('draft', () => copies.takeOver(target, token, condition, given)))) return false;
  try {
    await removeEvents(shop, target, token, false);
  } catch (error) {
    // Somebody else has taken it over meanwhile: it is theirs.
    if (!isCoxswainError(error) || !/^E_SESSION_(?:EXISTS|CONFLICT)$/.test(error.code)) throw error;
  }
  return true;
}

async function removeEvents({ engine, copies }: Workshop, target: SessionKey, token: string, keepsRow: boolean) {
  while (!(await engine().transaction('draft', () => copies.remove(target, token, keepsRow)))) await breath();
}
