import type { ContentPart, Principal } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import type { Engine } from '../agent/index.ts';
import { requesterOf } from '../agent/index.ts';
import { ownerOfThread } from '../calls/index.ts';
import type { InvocationInfo } from '../hooks/index.ts';
import { hookUserMessage } from '../hooks/index.ts';
import type { LiveSession, RunningInvocation } from '../live/index.ts';
import { createEvent } from '../log/index.ts';
import { originOf } from './abort-part.ts';
import type { Beside } from './store-beside.ts';
import { storeBeside } from './store-beside.ts';

/** Words for the turn that is under way, or waits; for the next one where they come too late. */
export interface SteerWords {
  readonly threadId?: string | undefined;
  readonly parts: ContentPart[];
  /** Who says them, where a host has said so. */
  readonly by?: Principal | undefined;
}

/**
 * Stores a person's words beside a run.
 * @param hostRuns the last stream left the tools to a host, which has fired what is its to fire
 */
export async function storeSteer(
  live: LiveSession,
  engine: Engine,
  { threadId, parts: given, by }: SteerWords,
  hostRuns: boolean,
): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
  const parts = await hooked(live, engine, given, hostRuns);
  await live.catchUp();
  const { event, reaches } = await storeBeside(live, (running) => words(live, running, { threadId, parts, by }));
  return { steerId: event.id, disposition: reaches ? 'current_turn' : 'next_turn' };
}

function words(live: LiveSession, running: RunningInvocation | undefined, { threadId, parts, by }: SteerWords): Beside {
  const { turn } = live.fold;
  // A turn that waits goes on with these words.
  const waits = turn !== undefined && turn.ended === undefined;
  const isThere =
    threadId === undefined || (running?.hasThread(threadId) ?? ownerOfThread(live.fold, threadId) !== undefined);
  // A turn of somebody else's may have begun since they were said: they are no part of it.
  const whose = turn && live.fold.terms.get(turn.id)?.principal;
  const isOwn = !by || !whose || nameOfPrincipal(whose) === nameOfPrincipal(by);
  const reaches = isOwn && isThere && (running ? !running.closing && !running.signal.aborted : waits);
  const event = createEvent({
    // Of no turn yet where they come too late for this one: they stand before the next message.
    turnId: reaches ? (turn?.id ?? '') : '',
    ...originOf(running),
    author: 'user',
    content: { role: 'user', parts },
    ...(reaches && threadId !== undefined ? { thread: threadId } : {}),
    ...(by ? { customMetadata: { saidBy: nameOfPrincipal(by) } } : {}),
    actions: { steer: true },
  });
  return { event, reaches };
}

/** Words that are added to a turn are a person's like those that begin one: the same hooks see them. */
function hooked(
  live: LiveSession,
  engine: Engine,
  parts: ContentPart[],
  hostRuns: boolean,
): Promise<ContentPart[]> | ContentPart[] {
  const { plugins, tree } = engine;
  if (!plugins.some(({ onUserMessage }) => onUserMessage)) return parts;
  const running = live.current?.invocation;
  const isOpen = running !== undefined && !running.closing && !running.signal.aborted;
  const { key, service: sessions, fold } = live;
  const turnId = fold.turn?.id ?? '';
  const idle: InvocationInfo = {
    key,
    store: sessions,
    tree,
    sessionId: key.id,
    sessionUid: live.uid,
    invocationId: '',
    turnId,
    userId: key.userId,
    principal: requesterOf(live, engine, turnId),
    signal: new AbortController().signal,
    deps: engine.deps,
    hostRuns,
    state: () => structuredClone({ ...fold.shared, ...fold.state }),
  };
  return hookUserMessage(isOpen ? running : idle, plugins, parts);
}
