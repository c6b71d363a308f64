import type { PendingRequest } from '../../contracts/index.ts';
import type { AgentTree, LiveSession, Standing } from '../../runtime/index.ts';
import { pendingRequests, placeOfCall } from '../../runtime/index.ts';

/** What a session waits for, or waited for where it stood at the end of a turn; each with the path to whoever asks. */
export function openRequests(live: LiveSession, tree: AgentTree, standing: Standing = live.fold): PendingRequest[] {
  return pendingRequests(standing, live.key, (call) => [...placeOfCall(tree, live.fold, call).path]);
}
