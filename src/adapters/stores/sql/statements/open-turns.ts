// In a file of its own: the databases share it, and it knows how events are written.

const of = (event: string) =>
  `${event}.app_name = s.app_name AND ${event}.user_id = s.user_id AND ${event}.session_id = s.id`;

/**
 * The turns that are open in the logs of older versions. Of a session whose newest event is the end of a turn no more
 * than that is read. At which agent they began is left to whoever reads the log.
 */
export const fillOpenTurns = `
  INSERT INTO adk_open_turns (app_name, user_id, session_id, agent, inserted_at)
  SELECT s.app_name, s.user_id, s.id, '', s.updated_at
  FROM adk_sessions s JOIN adk_events l ON ${of('l')} AND l.seq = s.last_seq
  WHERE (l.custom_metadata IS NULL OR l.custom_metadata NOT LIKE '%"end":{%')
    AND EXISTS (
      SELECT 1 FROM adk_events t
      WHERE ${of('t')} AND (t.custom_metadata LIKE '%"turn":{%' OR t.custom_metadata LIKE '%"reopened":true%')
        AND NOT EXISTS (SELECT 1 FROM adk_events e WHERE ${of('e')} AND e.seq >= t.seq AND e.custom_metadata LIKE '%"end":{%')
    )
    AND NOT EXISTS (SELECT 1 FROM adk_open_turns o WHERE ${of('o')})`;

/** Sessions of older versions: how much of each log is still to be counted. What it comes to is left to whoever lists it. */
export const fillSessionFacts = `
  INSERT INTO adk_session_facts
    (app_name, user_id, session_id, agent, steps, input_tokens, output_tokens, nano_usd, tools, uncounted)
  SELECT s.app_name, s.user_id, s.id, '', 0, 0, 0, 0, '', s.last_seq
  FROM adk_sessions s WHERE s.last_seq > 0 AND NOT EXISTS (SELECT 1 FROM adk_session_facts f WHERE ${of('f')})`;
