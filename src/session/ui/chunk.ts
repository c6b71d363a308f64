import type { ApproverRule } from '../../contracts/index.ts';

/** What a chat page of the AI SDK is sent about a part, beside its own members. */
type Told = { providerMetadata?: { coxswain: Record<string, string | boolean> } };

/** One chunk of the UI message stream of the AI SDK, as far as agents of this package have something to say. */
export type UiMessageChunk =
  | { type: 'start'; messageId?: string }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  | ({ type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string } & Told)
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string; approvalDescriptor: UiApproval }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; preliminary?: boolean }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'file'; url: string; mediaType: string }
  | { type: `data-${string}`; id?: string; data: unknown; transient?: boolean }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason?: string }
  | { type: 'finish'; finishReason: UiFinishReason; messageMetadata: UiMetadata };

export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** What a page shows of a question beside the call's own arguments. */
export interface UiApproval {
  title: string;
  reason?: string;
  /** What the tool says that it would do: texts, diffs, tables. */
  preview: readonly unknown[];
  requestedBy: string;
  /** Who may answer, and how many must; absent: anybody who has the session. */
  approvers?: ApproverRule;
  /** Nobody can edit the arguments: an approval with others is refused. */
  fixedArgs?: boolean;
  /** ISO 8601 */
  expiresAt?: string;
}

/** How a turn stands, as metadata of its message. */
export interface UiMetadata {
  /** The session's own word: `completed`, `input_required`, `max_budget`, … */
  reason: string;
  usage?: Record<string, unknown>;
}

/** A message of the AI SDK's user interface. */
export interface UiMessage {
  id: string;
  role: 'user' | 'assistant';
  metadata?: UiMetadata;
  parts: UiPart[];
}

export type UiPart =
  | ({ type: 'text'; text: string; state?: 'streaming' | 'done' } & Told)
  | ({ type: 'reasoning'; id?: string; text: string; state?: 'streaming' | 'done' } & Told)
  | { type: 'step-start' }
  | { type: 'file'; url: string; mediaType: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: `data-${string}`; id?: string; data: unknown }
  | UiToolPart;

export type UiToolPart = {
  type: `tool-${string}`;
  toolCallId: string;
  input: unknown;
} & (
  | { state: 'input-available' }
  | { state: 'approval-requested'; approval: { id: string; descriptor?: UiApproval } }
  | { state: 'output-available'; output: unknown; preliminary?: boolean }
  | { state: 'output-error'; errorText: string }
  | { state: 'output-denied'; approval: { id: string; approved: false } }
);
