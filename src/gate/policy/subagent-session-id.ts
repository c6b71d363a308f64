import { hash } from 'node:crypto';
import { isSafeId } from '../../contracts/index.ts';

/** The session of a sub-agent: the same id in every process, one safe segment. `root` is what a person has opened. */
export function subagentSessionId(root: string, callersId: string, callId: string): string {
  const plain = `${callersId}.${callId}`;
  if (isSafeId(plain)) return plain;
  const short = hash('sha256', JSON.stringify([callersId, callId]));
  return isSafeId(`${root}.${short}`) ? `${root}.${short}` : short;
}
