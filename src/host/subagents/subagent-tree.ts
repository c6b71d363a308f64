import type { AbortTarget } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import type { Handle } from '../frame/index.ts';
import { loggedCall } from '../frame/index.ts';
import type { SubagentSession } from './subagent-session.ts';

/** Sessions of sub-agents whose calls are open in one session; each may have such sessions of its own. */
type Children = AsyncIterable<Handle>;

/** The one in which, or below which, a request is open or was answered, or a thread is. */
export async function holderAmong(
  children: Children,
  { requestId, threadId }: Pick<AbortTarget, 'requestId' | 'threadId'>,
): Promise<Handle | undefined> {
  if (threadId !== undefined) return threadHolderAmong(children, threadId);
  return requestId === undefined ? undefined : ownerAmong(children, requestId);
}

async function ownerAmong(children: Children, requestId: string): Promise<Handle | undefined> {
  const callId = callIdOf(requestId);
  const all: Handle[] = [];
  for await (const child of children) all.push(child);
  for (const child of all) {
    const open = await child.inner.pending();
    if (open.some((request) => request.callId === callId)) return child;
    if (await child.subagents?.find({ requestId })) return child;
  }
  for (const child of all) if (await loggedCall(child, callId)) return child;
  return undefined;
}

/** The one whose thread it is, or below whose thread it stands. */
async function threadHolderAmong(children: Children, threadId: string): Promise<Handle | undefined> {
  for await (const child of children) {
    const inner = child.inner as SubagentSession;
    if (threadId === inner.threadId || inner.holds(threadId)) return child;
  }
  return undefined;
}
