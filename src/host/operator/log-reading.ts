import type { AgentEvent, AgentSession } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { subagentSessionId } from '../../gate/index.ts';
import type { LogMark } from '../../session/index.ts';
import { EventRedaction, markAt, readBehind } from '../../session/index.ts';
import { HostedSession } from '../hosted/index.ts';
import { closedRequest } from '../subagents/index.ts';

/** Another session of the same user; undefined: it is not there. */
export type FindSession = (sessionId: string) => Promise<AgentSession | undefined>;

/** A call of an agent that has a session of its own. */
interface AgentCall {
  readonly request: Extract<AgentEvent, { type: 'tool_request' }>;
  readonly turnId: string;
  readonly at: number;
  ended?: { at: number; turnId: string; ran: boolean };
  /** What the agent did. */
  inside?: LogReading;
  /** It was read after the call had ended: nothing is added to it. */
  isRead: boolean;
}

/** Calls that ended without what the agent said: it had not begun, or was cut off. */
const didNotEnd = (isError: boolean | undefined, errorType: string | undefined) =>
  isError === true && errorType !== undefined && !['failed', 'timeout', 'invalid_output'].includes(errorType);

/**
 * What a log was read for: what policy hides of its calls, and of those of the agents that it has called, at any depth. It is
 * read once, and then what is new.
 */
export class LogReading {
  #redaction = new EventRedaction({});
  #mark: LogMark | undefined;
  #calls = new Map<string, AgentCall>();
  /** One reads on at a time. */
  #reading: Promise<unknown> = Promise.resolve();

  get redaction(): EventRedaction {
    return this.#redaction;
  }

  /** Characters of arguments that it holds. */
  get size(): number {
    return this.#called().reduce((sum, { inside }) => sum + (inside?.size ?? 0), this.#redaction.size);
  }

  read(session: AgentSession, find: FindSession): Promise<void> {
    const done = this.#reading.then(() => this.#read(session, find));
    this.#reading = done.catch(() => {});
    return done;
  }

  async #read(session: AgentSession, find: FindSession): Promise<void> {
    if (!(await readBehind(session, this.#mark, (event) => this.#note(session, event)))) {
      this.#redaction = new EventRedaction({});
      this.#mark = undefined;
      this.#calls = new Map();
      for await (const event of session.events()) this.#note(session, event);
    }
    for (const call of this.#called()) if (!call.isRead) await this.#readInside(session, call, find);
  }

  #note(session: AgentSession, event: AgentEvent): void {
    this.#redaction.see(event);
    this.#mark = markAt(this.#mark, event);
    const { seq: at = 0, turnId = '' } = event;
    if (event.type === 'tool_request' && mayBeAgents(session, event))
      this.#calls.set(event.requestId, { request: event, turnId, at, isRead: false });
    if (event.type !== 'tool_response') return;
    const call = this.#calls.get(callIdOf(event.requestId));
    const { isError, errorType } = event as { isError?: boolean; errorType?: string };
    if (call) call.ended = { at, turnId, ran: !didNotEnd(isError, errorType) };
  }

  async #readInside(session: AgentSession, call: AgentCall, find: FindSession): Promise<void> {
    if (!(session instanceof HostedSession)) return;
    // What it does until its call ends is read later.
    const isOver = call.ended !== undefined;
    const called = session.subagents?.of(closedRequest(call.request));
    if (called) {
      const found = await called.look();
      if (found) await this.#readOne(call, found.session, find, !found.isOpen);
    } else {
      // Its tool is not there any more: it may have been an agent.
      const found = await find(subagentSessionId(session.id, session.id, call.request.requestId));
      if (found) await this.#readOne(call, found, find, true);
      else this.#calls.delete(call.request.requestId);
    }
    call.isRead = isOver;
  }

  async #readOne(call: AgentCall, session: AgentSession, find: FindSession, closes: boolean): Promise<void> {
    try {
      call.inside ??= new LogReading();
      await call.inside.read(session, find);
    } finally {
      if (closes) await session[Symbol.asyncDispose]();
    }
  }

  /** Where a call stands. */
  placeOf(callId: string): { turnId: string; at: number } | undefined {
    const turnId = this.#redaction.turnOf(callId);
    return turnId === undefined ? undefined : { turnId, at: this.#calls.get(callId)?.at ?? Number.POSITIVE_INFINITY };
  }

  /** What is hidden inside of the agents that were called in a turn, or in any. */
  textsInside(turnId?: string): string[] {
    const called = this.#called().filter((call) => turnId === undefined || isOfTurn(call, turnId));
    return called.flatMap(({ inside }) => (inside ? [...inside.redaction.allTexts(), ...inside.textsInside()] : []));
  }

  /** Something may stand here, or before it in its turn, that an agent has said of which is not known what is to be hidden. */
  isUnknownAt(turnId: string, at: number): boolean {
    return this.#called().some((call) => isUnknown(call) && isOfTurn(call, turnId) && (call.ended?.at ?? 0) <= at);
  }

  /** Nothing is hidden of its calls, nor of those of the agents that were called. */
  get hidesNothing(): boolean {
    return (
      !this.isUnknown &&
      this.#redaction.hidesNothing &&
      this.#called().every(({ inside }) => !inside || inside.hidesNothing)
    );
  }

  get isUnknown(): boolean {
    return this.#called().some(isUnknown);
  }

  #called(): AgentCall[] {
    return [...this.#calls.values()];
  }
}

/** A late result belongs to another turn than its call. */
const isOfTurn = (call: AgentCall, turnId: string) => call.turnId === turnId || call.ended?.turnId === turnId;

/** It has said something, and what policy hides of what it did is not to be found. */
const isUnknown = ({ ended, inside }: AgentCall): boolean =>
  ended?.ran === true && (inside === undefined || inside.isUnknown);

function mayBeAgents(session: AgentSession, event: Extract<AgentEvent, { type: 'tool_request' }>): boolean {
  if (!(session instanceof HostedSession) || event.handledBy === 'agent') return false;
  const request = closedRequest(event);
  return session.frame.toolOf(request) === undefined || session.subagents?.of(request) !== undefined;
}
