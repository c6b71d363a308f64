import { breath } from '../../../../base/index.ts';
import type { FactsChange, SessionFacts, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import { addFacts, factsChange, MAX_TOOLS, noFacts, toolEntry } from '../../../../runtime/index.ts';
import type { Reads, SqlDialect, SqlEngine, Steps, Uncounted, Value } from '../statements/index.ts';
import { OF_SESSION, runStatement, values, writeText } from '../statements/index.ts';

const TABLE = 'adk_session_facts';
const COLUMNS = 'app_name, user_id, session_id, agent, steps, input_tokens, output_tokens, nano_usd, tools, uncounted';
const SUMS = ['steps', 'input_tokens', 'output_tokens', 'nano_usd'];
/** Names that one statement adds at most. */
const NAMES = 32;
/** Events of one list that are counted on the way, of logs that older versions have written. */
const COUNTED = 2000;
const PAGE = 500;

/** What lists show of a log: one row a session, changed in the transaction of the events. */
export class FactsTable {
  readonly #dialect: SqlDialect;
  /** By their number of names. */
  readonly #adds: string[] = [];

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
  }

  *add(key: SessionKey, { tools, ...change }: FactsChange): Steps<void> {
    const entries = [...tools].map(toolEntry);
    const first = entries.slice(0, NAMES);
    const { agent, steps, inputTokens, outputTokens, nanoUsd } = change;
    const row = [writeText(agent), steps, inputTokens, outputTokens, nanoUsd, first.join(''), 0];
    yield* runStatement(this.#add(first.length), [...values(key), ...row, ...twice(first)]);
    for (let at = NAMES; at < entries.length; at += NAMES) {
      const some = entries.slice(at, at + NAMES);
      const sql = `UPDATE ${TABLE} SET tools = ${this.#tools(some.length)} ${OF_SESSION}`;
      yield* runStatement(sql, [...twice(some), ...values(key)]);
    }
  }

  /** Of a whole log. */
  *set(key: SessionKey, facts: SessionFacts): Steps<void> {
    yield* forgetFacts(key);
    const { agent, steps, inputTokens, outputTokens, nanoUsd, tools } = facts;
    const row = [writeText(agent), steps, inputTokens, outputTokens, nanoUsd, tools, 0];
    yield* runStatement(`INSERT INTO ${TABLE} (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      ...values(key),
      ...row,
    ]);
  }

  /** The first events of a log that have not been counted; nothing where somebody else has counted them meanwhile. */
  *complete(key: SessionKey, through: number, { agent, steps, tools, ...more }: SessionFacts): Steps<void> {
    const { inputTokens, outputTokens, nanoUsd } = more;
    const sums = SUMS.map((column) => `${column} = ${column} + ?`).join(', ');
    const { textValue } = this.#dialect;
    const sql = `UPDATE ${TABLE} SET ${sums}, tools = concat(${textValue}, tools), uncounted = 0,
      agent = CASE WHEN ${textValue} = '' THEN agent ELSE ${textValue} END ${OF_SESSION} AND uncounted = ?`;
    const given = [steps, inputTokens, outputTokens, nanoUsd, tools, writeText(agent), writeText(agent)];
    yield* runStatement(sql, [...given, ...values(key), through]);
  }

  #add(names: number): string {
    let text = this.#adds[names];
    if (text === undefined) {
      const { excluded, onConflict } = this.#dialect;
      const changes = SUMS.map((column) => `${column} = ${TABLE}.${column} + ${excluded(column)}`);
      changes.push(`agent = CASE WHEN ${TABLE}.agent = '' THEN ${excluded('agent')} ELSE ${TABLE}.agent END`);
      if (names > 0) changes.push(`tools = ${this.#tools(names)}`);
      text = `INSERT INTO ${TABLE} (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ${onConflict(['app_name', 'user_id', 'session_id'], changes)}`;
      this.#adds[names] = text;
    }
    return text;
  }

  /** Those that are there, and each of so many that is not: two values for each. */
  #tools(names: number): string {
    const { contains, textValue } = this.#dialect;
    const tools = `${TABLE}.tools`;
    const each = `CASE WHEN ${contains(tools)} OR length(${tools}) > ${MAX_TOOLS} THEN '' ELSE ${textValue} END`;
    return `concat(${[tools, ...Array.from({ length: names }, () => each)].join(', ')})`;
  }
}

const twice = (entries: readonly string[]): Value[] => entries.flatMap((entry) => [entry, entry]);

export function* forgetFacts(key: SessionKey): Steps<void> {
  yield* runStatement(`DELETE FROM ${TABLE} ${OF_SESSION}`, values(key));
}

export function factsOf(events: readonly StoredEvent[]): SessionFacts {
  const facts = noFacts();
  addSome(facts, events);
  return facts;
}

export function addSome(facts: SessionFacts, events: readonly StoredEvent[]): void {
  const change = factsChange(events);
  if (change) addFacts(facts, change);
}

/**
 * Counts logs of older versions, a few events of them: those that are left come with a later list. @returns whether some
 * were counted
 */
export async function countSome(
  engine: SqlEngine,
  tables: Reads & { readonly facts: FactsTable },
  uncounted: readonly Uncounted[],
): Promise<boolean> {
  let left = COUNTED;
  for (const { key, through } of uncounted) {
    if (left <= 0) break;
    left -= through;
    const facts = noFacts();
    for (let from = 0; from < through; from += PAGE) {
      const to = Math.min(through, from + PAGE);
      addSome(facts, await engine.transaction('single', () => tables.events(key, from, to)));
      await breath();
    }
    await engine.transaction('write', () => tables.facts.complete(key, through, facts));
  }
  return uncounted.length > 0;
}
