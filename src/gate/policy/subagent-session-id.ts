import { hash } from 'node:crypto';
import { isSafeId } from '../../contracts/index.ts';

/**
 * The session of a sub-agent: the same id in every process, one safe segment. `root` is what a person has opened. `agent`: the
 * caller, whose executor names its sessions and calls itself: another agent's have the same names.
 */
export function subagentSessionId(root: string, callersId: string, callId: string, agent?: string): string {
  if (agent !== undefined) return within(root, shortOf(callersId, callId, agent));
  const plain = `${callersId}.${callId}`;
  if (isSafeId(plain)) return plain;
  return within(root, shortOf(callersId, callId));
}

function within(root: string, short: string): string {
  return isSafeId(`${root}.${short}`) ? `${root}.${short}` : short;
}

function shortOf(...names: string[]): string {
  return hash('sha256', JSON.stringify(names));
}

/** Whether it is the session of a call's sub-agent; a copy of it has another id. */
export function isSessionOfCall(
  id: string,
  { sessionId, callId, agent }: { sessionId: string; callId: string; agent?: string | undefined },
): boolean {
  if (agent !== undefined) return id.endsWith(shortOf(sessionId, callId, agent));
  return id === `${sessionId}.${callId}` || id.endsWith(shortOf(sessionId, callId));
}

/** Whether an id has the form of a sub-agent's: most have not, and need not be looked at. */
export function mayBeSubagents(id: string): boolean {
  return id.includes('.') || /[0-9a-f]{64}$/.test(id);
}
