import type { DecisionRecord, FunctionCallPart, PutQuestion } from '../../contracts/index.ts';
import type { AnnouncedTool, HookQuestion } from '../../session/index.ts';
import { callNotes } from './call-notes.ts';
import type { Ask, EventActions, StoredAnswer, StoredEvent } from './event.ts';

/** A question about a call, and its answer once there is one. */
export interface AskState extends Ask {
  requestedAt: number;
  /** How often the call had been started when this was asked. */
  attempt: number;
  answer?: StoredAnswer;
}

/** How a call was closed. */
export interface Settled {
  seq: number;
  isError: boolean;
  errorType?: string;
  by?: string;
}

/** One tool call of the model, from its request to its response. */
export interface CallState {
  readonly id: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly path: string;
  readonly author: string;
  readonly turnId: string;
  readonly requestedAt: number;
  readonly longRunning: boolean;
  readonly branch?: string;
  readonly iso?: string;
  readonly thread?: string;
  /** Who runs it, as announced. */
  readonly handledBy: 'host' | 'agent';
  /** Author or hook want a person asked, whatever the host's policy says: the reason. */
  readonly floor?: string;
  /** What a hook asks with, where one does. */
  readonly asked?: HookQuestion;
  /** Kind and annotations of the tool, by the word of whoever has it. */
  readonly tool?: AnnouncedTool;
  /** The runtime's before_tool hooks have seen it already: it was announced to a host. */
  readonly hooked: boolean;
  /** What they want done once it is answered. */
  readonly signals?: Partial<EventActions>;
  /** Grows with each change. */
  version: number;
  decision?: DecisionRecord;
  /** Its {@link callTurns} when that was stored. */
  decidedAt?: number;
  /** A handler was started and no word of it has come since. */
  started: boolean;
  /** Epoch of the lease that it was started under last. */
  startedIn?: number;
  attempts: number;
  asks: AskState[];
  /** Answers to the host's own questions, which are derived and not stored. */
  hostAnswers: (StoredAnswer & { requestId: string; attempt: number })[];
  /** What the host's own questions were put with. */
  questions?: PutQuestion[];
  /** A long-running tool's first word. */
  interim?: Record<string, unknown>;
  /** The agent that it runs has been asked. */
  entered?: true;
  settled?: Settled;
  /** What its response did. */
  effects?: EventActions;
  /** Ids of events that a rewind has cut: an answer takes none of them. */
  readonly cutIds: Pick<ReadonlySet<string>, 'has'>;
}

/** Grows with each start and each question: what was decided before is not a decision on what follows. */
export function callTurns({ attempts, asks }: CallState): number {
  return attempts + asks.length;
}

/** A call as the model has just made it. */
export function newCall(
  event: StoredEvent,
  part: FunctionCallPart,
  longRunning: boolean,
  cutIds: CallState['cutIds'],
): CallState {
  const notes = callNotes(part);
  return {
    id: part.id,
    name: part.name,
    args: part.args,
    path: event.path,
    author: event.author,
    turnId: event.turnId,
    requestedAt: event.timestamp,
    longRunning,
    handledBy: notes.handledBy ?? 'agent',
    hooked: notes.hooked === true,
    ...(notes.ask === undefined ? {} : { floor: notes.ask }),
    ...(notes.signals ? { signals: notes.signals } : {}),
    ...(notes.asked ? { asked: notes.asked } : {}),
    ...(notes.tool ? { tool: notes.tool } : {}),
    version: 0,
    started: false,
    attempts: 0,
    asks: [],
    hostAnswers: [],
    cutIds,
    ...(event.branch === undefined ? {} : { branch: event.branch }),
    ...(event.iso === undefined ? {} : { iso: event.iso }),
    ...(event.thread === undefined ? {} : { thread: event.thread }),
  };
}

/** The call as it is now: what comes later does not change it. */
export function stillCall(call: CallState): CallState {
  return { ...call, asks: call.asks.map((ask) => ({ ...ask })), hostAnswers: [...call.hostAnswers] };
}
