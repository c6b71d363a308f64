import type { AgentEvent, StreamEndEvent } from '../types/index.ts';
import { callIdOf, isDerivedQuestion, isQuestion } from '../values/index.ts';
import type { ReportFault, StreamRule } from './rule.ts';

type RequestKind = 'tool' | 'elicitation';

/**
 * Rule 3: every response answers an earlier request of the session with the same id and of the same kind, at most
 * once; ids are not used again; what a `stream_end` calls pending is open.
 */
export function requestsAreAnswered(openBefore: Iterable<string>): StreamRule & { readonly open: ReadonlySet<string> } {
  const open = new Set(openBefore);
  const derivable = new Set(open);
  /** Of this stream's requests; earlier ones are known by id alone and may be either. */
  const kinds = new Map<string, RequestKind>();
  const answered = new Set<string>();

  const request = (event: RequestEvent, kind: RequestKind, fault: ReportFault) => {
    const id = event.requestId;
    // A question that a host derives from the log is not stored: it is asked again when the session is opened again.
    const isAskedAgain = kind === 'elicitation' && event.seq === undefined && derivable.delete(id) && open.has(id);
    if (answered.has(id)) fault(`${event.type} ${id} uses the id of a request that was answered`, event);
    else if (open.has(id) && !isAskedAgain) fault(`${event.type} ${id} uses the id of an open request`, event);
    const call = callOf(id);
    if (kind === 'elicitation' && call !== undefined && answered.has(call)) {
      fault(`${event.type} ${id} asks about a call that was answered`, event);
    }
    open.add(id);
    kinds.set(id, kind);
  };

  const settle = (event: ResponseEvent, kind: RequestKind, fault: ReportFault) => {
    const id = event.requestId;
    if (kind === 'elicitation' && isDerivedQuestion(id) && !answered.has(id)) {
      // A question that a host derives stands in no log: who holds its call may answer it before it is shown.
      const call = callOf(id);
      if (call !== undefined && open.has(call)) open.add(id);
    }
    if (!open.has(id)) {
      const why = answered.has(id) ? 'was answered already' : 'was never made';
      fault(`${event.type} answers ${id}, a request that ${why}`, event);
    } else if ((kinds.get(id) ?? kind) !== kind) {
      fault(`${event.type} answers ${id}, which is a request of another kind`, event);
    }
    close(id);
    // Whoever cancels settles the call alone; its questions close with it.
    if (kind === 'tool') for (const other of open) if (callOf(other) === id) close(other);
  };

  const close = (id: string) => {
    open.delete(id);
    answered.add(id);
  };

  const end = (event: StreamEndEvent, fault: ReportFault) => {
    for (const { requestId } of event.data?.pending ?? []) {
      if (!open.has(requestId)) fault(`stream_end calls ${requestId} pending, which is not open`, event);
    }
    const transfer = event.data?.transfer;
    if (transfer && !open.has(transfer.requestId)) {
      fault(`stream_end offers the transfer ${transfer.requestId}, which is not open`, event);
    }
  };

  return {
    open,
    push(event, fault) {
      switch (event.type) {
        case 'tool_request':
          return request(event, 'tool', fault);
        case 'elicitation_request':
          return request(event, 'elicitation', fault);
        case 'tool_response':
          return settle(event, 'tool', fault);
        case 'elicitation_response':
          return settle(event, 'elicitation', fault);
        case 'stream_end':
          return end(event, fault);
        default:
      }
    },
  };
}

type RequestEvent = Extract<AgentEvent, { type: 'tool_request' | 'elicitation_request' }>;
type ResponseEvent = Extract<AgentEvent, { type: 'tool_response' | 'elicitation_response' }>;

/** The call that a question is about: `<callId>#<n>`. */
function callOf(id: string): string | undefined {
  return isQuestion(id) ? callIdOf(id) : undefined;
}
