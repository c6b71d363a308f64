import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { AgentHost } from '../../index.ts';
import type { HeldSessions } from './held-sessions.ts';
import type { TurnPlaces } from './logged-turns.ts';
import type { McpOptions } from './options.ts';
import type { Reply } from './questions.ts';
import type { ParkedCall } from './request-state.ts';
import type { AskingModes, ClientQuestion } from './url-question.ts';

/** How a caller's person is asked: in mid-call, or by ending this call with a question. */
export interface Asking {
  readonly modes: AskingModes;
  /** Undefined: the client could not put the question to anybody. */
  push?(question: ClientQuestion, context: ServerContext): Promise<Reply | undefined>;
  park?(questions: readonly ClientQuestion[], call: ParkedCall, context: ServerContext): Promise<InputRequiredResult>;
}

export interface CallFrame {
  readonly host: AgentHost;
  readonly options: McpOptions;
  readonly asking: Asking;
  readonly held: HeldSessions;
  readonly places: TurnPlaces;
  readonly warn: (message: string, error?: unknown) => void;
  readonly watcher: CallWatcher;
}

/** Who may hand a call over to whoever asks for its outcome later. */
export interface CallWatcher {
  /** The turn is in the log of its session. */
  begun(sessionId: string, turnId: string): void;
  /** Its turn waits for somebody whom the caller cannot ask. */
  left(): void;
}

/** Nobody asks later. */
export const UNWATCHED: CallWatcher = { begun() {}, left() {} };

/** What the caller brings to a call that was parked. */
export interface Answers {
  call: ParkedCall;
  replyTo(requestId: string): Reply | undefined;
}
