import type { PendingRequest } from '../../contracts/index.ts';
import type { AgentTree, LiveSession, Standing } from '../../runtime/index.ts';
import { OpenRequests, placeOfCall } from '../../runtime/index.ts';

const known = new WeakMap<LiveSession, { tree: AgentTree; requests: OpenRequests }>();

/** What a session waits for, or waited for where it stood at the end of a turn; each with the path to whoever asks. */
export function openRequests(live: LiveSession, tree: AgentTree, standing: Standing = live.fold): PendingRequest[] {
  return requestsOf(live, tree).of(standing);
}

/** What a session waits for of the call with this id, or of the one that a question with this id is about. */
export function openRequest(live: LiveSession, tree: AgentTree, id: string): PendingRequest | undefined {
  const { fold } = live;
  const call = fold.callOf(id);
  return call && fold.open.has(call.id) ? requestsOf(live, tree).one(fold, call) : undefined;
}

function requestsOf(live: LiveSession, tree: AgentTree): OpenRequests {
  let made = known.get(live);
  if (made?.tree !== tree) {
    made = { tree, requests: new OpenRequests(live.key, (call) => placeOfCall(tree, live.fold, call).path) };
    known.set(live, made);
  }
  return made.requests;
}
