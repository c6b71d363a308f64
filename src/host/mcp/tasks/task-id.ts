/** What a task is: one turn of one session of one agent. */
export interface TaskPlace {
  agent: string;
  sessionId: string;
  turnId: string;
}

/** Characters of an id that are looked at: those of a longer one are nobody's. */
const MAX = 2_000;

/**
 * The place itself, so that nothing has to be kept for it. It is no secret's hiding place and no right: whose a task is, its
 * session says. That nobody guesses it, the turn's random id sees to.
 */
export function taskIdOf({ agent, sessionId, turnId }: TaskPlace): string {
  return Buffer.from(JSON.stringify([agent, sessionId, turnId])).toString('base64url');
}

/** Undefined: it is no id of a task. */
export function placeOfTask(taskId: string): TaskPlace | undefined {
  if (taskId.length > MAX) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(taskId, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [agent, sessionId, turnId] = parts as unknown[];
  if (typeof agent !== 'string' || typeof sessionId !== 'string' || typeof turnId !== 'string') return undefined;
  const place = { agent, sessionId, turnId };
  // One task has one id, however it could be spelt.
  return taskIdOf(place) === taskId ? place : undefined;
}
