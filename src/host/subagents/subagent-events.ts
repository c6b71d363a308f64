import type { AgentEvent, ReportedRequest } from '../../contracts/index.ts';
import { keepNewest } from '../../session/index.ts';
import type { CallersStream } from '../frame/index.ts';

/** Calls and questions of sub-agents that one handle knows as shown: of an agent that names them without an end, the newest. */
const MOST_SHOWN = 10_000;

/** Events that wait for the caller's stream to begin: of more the newest. The log of the sub-agent's session has all. */
const MOST_EARLY = 1_000;

/** What one handle's streams show of its sub-agents. */
export class SubagentEvents {
  /** Calls of sub-agents that have been shown. */
  readonly #announced = new Set<string>();
  /** Questions that the stream that runs now has shown. */
  readonly #asked = new Set<string>();

  /** What sub-agents did before the stream that runs now had begun. */
  #early: [AgentEvent, ReportedRequest][] = [];

  /** A new stream of the caller. */
  begin(): void {
    this.#asked.clear();
    this.#early = [];
  }

  /** The caller's stream has begun: what happened before is shown now. */
  release(stream: CallersStream): void {
    for (const [event, request] of this.#early.splice(0)) void this.show(event, request, stream);
  }

  /** Shows one event; waits for what it returns, if anything. */
  show(event: AgentEvent, request: ReportedRequest, stream: CallersStream): Promise<void> | undefined {
    if (stream.phase() === 'early') {
      this.#early.push([event, request]);
      if (this.#early.length > MOST_EARLY) this.#early.shift();
    }
    if (stream.phase() !== 'open') return undefined;
    const shown = this.moved(event, request, stream.options.streamId);
    return shown && stream.show(shown);
  }

  hasAsked(requestId: string): boolean {
    return this.#asked.has(requestId);
  }

  /** A sub-agent's event in its caller's stream: it stands in another log, so that it has no place in this one. */
  moved(event: AgentEvent, request: ReportedRequest, streamId: string): AgentEvent | undefined {
    switch (event.type) {
      case 'initialize':
      case 'session_update':
      case 'stream_end':
        return undefined;
      case 'elicitation_request':
        // Each of the sub-agent's streams asks again; its caller's stream is one.
        if (this.#asked.has(event.requestId)) return undefined;
        this.#asked.add(event.requestId);
        keepNewest(this.#asked, MOST_SHOWN);
        break;
      case 'tool_request':
        this.#announced.add(event.requestId);
        keepNewest(this.#announced, MOST_SHOWN);
        break;
      case 'tool_update':
      case 'tool_response':
        if (!this.#announced.has(event.requestId)) return undefined;
        break;
      default:
    }
    const { seq: _, cursor: __, ...rest } = event;
    const moved = { ...rest, sessionId: request.sessionId, streamId, turnId: request.turnId } as AgentEvent;
    // It is the sub-agent that failed: its caller is told, and may go on.
    if (moved.type === 'error') moved.fatal = false;
    return moved;
  }
}

/** Calls of sub-agents that are closed, of the newest turn that has any. */
export class ClosedCalls {
  calls: ReportedRequest[] = [];
  readonly #open = new Map<string, ReportedRequest>();
  readonly #isSubagent: (request: ReportedRequest) => boolean;

  constructor(isSubagent: (request: ReportedRequest) => boolean) {
    this.#isSubagent = isSubagent;
  }

  /** Takes the next event of the caller's history. */
  see(event: AgentEvent): void {
    if (event.type === 'tool_request') {
      const request = closedRequest(event);
      if (this.#isSubagent(request)) this.#open.set(event.requestId, request);
    }
    const call = event.type === 'tool_response' ? this.#open.get(event.requestId) : undefined;
    if (!call) return;
    if (this.calls[0]?.turnId !== call.turnId) this.calls = [];
    this.calls.push(call);
  }
}

/** A call in the caller's history. */
export function closedRequest(event: Extract<AgentEvent, { type: 'tool_request' }>): ReportedRequest {
  const { requestId, sessionId, turnId = '', name, handledBy, threadId, timestamp: requestedAt } = event;
  const base = { requestId, sessionId, turnId, name, handledBy, requestedAt };
  const thread = threadId === undefined ? {} : { threadId };
  return { ...base, ...thread, kind: 'tool', callId: requestId, started: true, path: '', agentPath: [] };
}
