/** One event of AG-UI 1.0, as far as agents of this package have something to say. */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: '1.0' }
  | {
      type: 'RUN_FINISHED';
      threadId: string;
      runId: string;
      outcome: AgUiOutcome;
      /** How the session says that the turn ended. */
      result?: { reason: string };
    }
  | { type: 'RUN_ERROR'; message: string; code: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' | 'user'; name?: string }
  | { type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END'; messageId: string; metadata?: AgUiMetadata }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END'; messageId: string; metadata?: AgUiMetadata }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | {
      type: 'TOOL_CALL_RESULT';
      messageId: string;
      toolCallId: string;
      content: string;
      role: 'tool';
      metadata?: AgUiMetadata;
    }
  | { type: 'STATE_SNAPSHOT'; snapshot: Record<string, unknown> }
  | { type: 'STATE_DELTA'; delta: { op: 'add'; path: string; value: unknown }[] }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[] }
  | { type: 'CUSTOM'; name: string; value: unknown };

type AgUiMetadata = { coxswain: Record<string, string | boolean> };

export type AgUiOutcome =
  | { type: 'success' }
  | { type: 'cancelled' }
  | { type: 'interrupt'; interrupts: AgUiInterrupt[] };

/** A question to a person, which ends a run; an answer in `resume` of the next one continues the turn. */
export interface AgUiInterrupt {
  id: string;
  /** `tool_call`: an approval; `input_required`: a form; `confirmation`: yes or no. */
  reason: string;
  message?: string;
  toolCallId?: string;
  responseSchema: Record<string, unknown>;
  /** ISO 8601 */
  expiresAt?: string;
  metadata: { coxswain: Record<string, unknown> };
}

export type AgUiMessage =
  | { id: string; role: 'user'; content: string }
  | {
      id: string;
      role: 'assistant';
      content?: string;
      name?: string;
      toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
    }
  | { id: string; role: 'reasoning'; content: string }
  | { id: string; role: 'tool'; toolCallId: string; content: string; error?: string };
