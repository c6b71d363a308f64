import type { AgentSession } from '../../contracts/index.ts';

let check: ((session: AgentSession) => boolean) | undefined;

/**
 * Said once in a process, by the class of the runtime's sessions: which sessions are of its making. A class tells by a
 * private member, which nobody else can give to an object.
 */
export function claimOwn(isOwn: (session: AgentSession) => boolean): void {
  if (check) throw new TypeError('which sessions are the runtime’s own was said before');
  check = isOwn;
}

/** The session is the runtime's own: what it says of its calls is read from a log that this process writes. */
export function isOwn(session: AgentSession): boolean {
  return check?.(session) === true;
}
