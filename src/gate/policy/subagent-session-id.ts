import { hash } from 'node:crypto';
import { isSafeId } from '../../contracts/index.ts';

/** The session of a sub-agent: the same id in every process, one safe segment. `root` is what a person has opened. */
export function subagentSessionId(root: string, callersId: string, callId: string): string {
  const plain = `${callersId}.${callId}`;
  if (isSafeId(plain)) return plain;
  const short = shortOf(callersId, callId);
  return isSafeId(`${root}.${short}`) ? `${root}.${short}` : short;
}

function shortOf(callersId: string, callId: string): string {
  return hash('sha256', JSON.stringify([callersId, callId]));
}

/** Whether it is the session of a call's sub-agent; a copy of it has another id. */
export function isSessionOfCall(id: string, { sessionId, callId }: { sessionId: string; callId: string }): boolean {
  return id === `${sessionId}.${callId}` || id.endsWith(shortOf(sessionId, callId));
}

/** Whether an id has the form of a sub-agent's: most have not, and need not be looked at. */
export function mayBeSubagents(id: string): boolean {
  return id.includes('.') || /[0-9a-f]{64}$/.test(id);
}
