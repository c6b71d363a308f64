import { MANY } from '../../base/index.ts';
import type { ReportedRequest } from '../../contracts/index.ts';
import type { AgentTree } from '../agent/index.ts';
import { isOwnCall, placeOfCall } from '../agent/index.ts';
import type { LiveSession } from '../live/index.ts';
import type { CallState, Standing } from '../log/index.ts';
import { OpenRequests } from './requests-of-calls.ts';

const known = new WeakMap<LiveSession, { tree: AgentTree; requests: OpenRequests }>();

/** What a session waits for, or waited for where it stood at the end of a turn; each with the path to whoever asks. */
export function openRequests(live: LiveSession, tree: AgentTree, standing: Standing = live.fold): ReportedRequest[] {
  // What most sessions wait for: for them nothing is kept.
  return standing.open.size === 0 ? [] : requestsOf(live, tree).of(standing);
}

/** Where a session waits for much: makes it in pieces, so that it is at hand when it is listed. Undefined: it is little. */
export function makeRequests(live: LiveSession, tree: AgentTree): Promise<void> | undefined {
  return live.fold.open.size > MANY ? requestsOf(live, tree).make(live.fold) : undefined;
}

/** What a session waits for of the call with this id, or of the one that a question with this id is about. */
export function findOpenRequest(live: LiveSession, tree: AgentTree, id: string): ReportedRequest | undefined {
  const { fold } = live;
  const call = fold.callOf(id);
  return call && fold.open.has(call.id) ? requestsOf(live, tree).one(fold, call) : undefined;
}

function requestsOf(live: LiveSession, tree: AgentTree): OpenRequests {
  let made = known.get(live);
  if (made?.tree !== tree) {
    // Many calls of one agent stand at one place; that of an agent run as a tool hangs on the call that runs it.
    const own = new Map<string, readonly string[]>();
    const pathOf = (call: CallState) => {
      const isPlain = call.iso === undefined && isOwnCall(tree, live.fold, call);
      const path = (isPlain ? own.get(call.author) : undefined) ?? placeOfCall(tree, live.fold, call).path;
      if (isPlain) own.set(call.author, path);
      return path;
    };
    made = { tree, requests: new OpenRequests(live.key, pathOf) };
    known.set(live, made);
  }
  return made.requests;
}

/**
 * The same as it is now, over all processes: what a live owner has started and still holds is running; what nobody runs
 * any more is as the log leaves it. `by` knows by itself what it runs while it holds the session.
 */
export async function openRequestsNow(live: LiveSession, tree: AgentTree, by: object): Promise<ReportedRequest[]> {
  const news = live.catchUp();
  if (news) await news;
  const open = openRequests(live, tree);
  const looking = runningNow(live, by, open);
  if (!looking) return open;
  const isRunning = await looking;
  return openRequests(live, tree).map((request) => (isRunning(request) ? { ...request, running: true } : request));
}

export async function openRequestNow(
  live: LiveSession,
  tree: AgentTree,
  by: object,
  id: string,
): Promise<ReportedRequest | undefined> {
  const news = live.catchUp();
  if (news) await news;
  const open = findOpenRequest(live, tree, id);
  const isRunning = open && (await runningNow(live, by, [open]));
  if (!isRunning) return open;
  const now = findOpenRequest(live, tree, id);
  return now && isRunning(now) ? { ...now, running: true } : now;
}

type IsRunning = (request: ReportedRequest) => boolean;

/** Undefined: none of them is. */
function runningNow(live: LiveSession, by: object, open: readonly ReportedRequest[]): Promise<IsRunning> | undefined {
  if (live.holding?.by === by || !open.some(({ started }) => started)) return undefined;
  return startedNow(live, open);
}

async function startedNow(live: LiveSession, open: readonly ReportedRequest[]): Promise<IsRunning> {
  const holder = await live.holder();
  const isRunning = ({ started, callId }: ReportedRequest) => {
    const call = started && callId !== undefined ? live.fold.callOf(callId) : undefined;
    // Starts of older releases do not say under which lease: then it may be this one.
    return call !== undefined && holder !== undefined && (call.startedIn ?? holder) === holder;
  };
  // Where an owner is gone: before that it may have told what came of its calls.
  if (!open.every((request) => !request.started || isRunning(request))) await live.catchUp();
  return isRunning;
}
