type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * A node that was frozen begins, when it thaws, the tool that it was about to begin, though another node has finished the
 * call meanwhile: nothing outside of the tool can keep it from that. Of no other node is it excused.
 */
export const lateStart = 'was_finished AND holds IS NOT TRUE AND pid IN (SELECT pid FROM frozen)';

/** What was acknowledged to those who began turns and answered questions. */
export interface Acknowledged {
  /** Words of a message, and the session that they were said in. */
  readonly messages: readonly { session: string; words: string }[];
  /** What the tools of each turn have answered, of a run whose tools do not fail. Default: none are looked for. */
  readonly results?: readonly string[];
}

/** What must find nothing, in plain SQL: what is wrong, and the rows that say so. */
const faults: Record<string, string> = {
  'a log has a gap, or an event twice': `
    SELECT s.id, s.last_seq, e.n, e.ids, e.most FROM adk_sessions s LEFT JOIN (
      SELECT session_id, count(*) AS n, count(DISTINCT id) AS ids, min(seq) AS least, max(seq) AS most
      FROM adk_events GROUP BY session_id) e ON e.session_id = s.id
    WHERE COALESCE(e.n, 0) <> s.last_seq OR COALESCE(e.most, 0) <> s.last_seq OR e.ids <> e.n OR e.least <> 1`,
  'a turn is stuck': 'SELECT session_id, agent FROM adk_open_turns',
  'a call is open': 'SELECT session_id, call_id FROM adk_open_calls',
  'a session is held by nobody': `SELECT id, owner FROM adk_sessions WHERE owner IS NOT NULL`,
  'a finished call was run again': `SELECT call_id, tool, pid FROM effects WHERE was_finished AND NOT (${lateStart})`,
  'a call has not one result': `
    SELECT e.call_id, count(v.id) FROM (SELECT DISTINCT call_id FROM effects) e
    LEFT JOIN adk_events v ON strpos(v.content, 'function_response') > 0 AND strpos(v.content, e.call_id) > 0
    GROUP BY e.call_id HAVING count(v.id) <> 1`,
  'a turn has not one end': `
    SELECT session_id, sum(begun) AS begun, sum(ended) AS ended FROM (
      SELECT session_id,
        CASE WHEN custom_metadata LIKE '%"turn":{%' THEN 1 ELSE 0 END AS begun,
        CASE WHEN custom_metadata LIKE '%"end":{%' THEN 1 ELSE 0 END AS ended
      FROM adk_events) t GROUP BY session_id HAVING sum(begun) <> sum(ended)`,
};

/** The history of a run against what was acknowledged in it: what is wrong with it. */
export async function faultsOf(query: Query, { messages, results = [] }: Acknowledged): Promise<string[]> {
  const found: string[] = [];
  for (const [fault, sql] of Object.entries(faults)) {
    for (const row of await query(sql)) found.push(`${fault}: ${JSON.stringify(row)}`);
  }
  for (const { session, words } of messages) {
    const where = `session_id = '${session}' AND author = 'user' AND strpos(content, '${words}') > 0`;
    const [row] = await query(`SELECT count(*) AS n FROM adk_events WHERE ${where}`);
    if (Number(row?.n) !== 1) found.push(`an acknowledged message is stored ${row?.n} times: ${session} ${words}`);
    for (const result of results) {
      const answered = `session_id = '${session}' AND strpos(content, 'function_response') > 0`;
      const [tool] = await query(
        `SELECT count(*) AS n FROM adk_events WHERE ${answered} AND strpos(content, '${result}') > 0`,
      );
      if (Number(tool?.n) !== 1) found.push(`a turn has ${tool?.n} results "${result}": ${session} ${words}`);
    }
  }
  return found;
}
