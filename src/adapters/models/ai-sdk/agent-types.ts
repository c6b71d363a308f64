import type { AgentSession, Limits } from '../../../contracts/index.ts';

type JsonObject = { [member: string]: JsonValue | undefined };
type JsonValue = string | number | boolean | null | JsonObject | JsonValue[];
/** What is said of a part in words of this package. */
export interface Noted {
  providerMetadata?: { coxswain: JsonObject };
}

interface TokenCounts {
  inputTokens: Record<'total' | 'noCache' | 'cacheRead' | 'cacheWrite', number | undefined>;
  outputTokens: Record<'total' | 'text' | 'reasoning', number | undefined>;
  raw?: JsonObject;
}

export type ModelWarning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'other'; message: string };

/** How an answer ended; `raw` is the session's own word. */
export interface ModelEnd extends Noted {
  finishReason: {
    unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
    raw: string | undefined;
  };
  usage: TokenCounts;
}

/** What stands in an answer as a whole, streamed or not. */
export type WholePart =
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input: string } & ByTheAgent & Noted)
  | ({
      type: 'tool-result';
      toolCallId: string;
      toolName: string;
      result: NonNullable<JsonValue>;
      isError?: boolean;
      preliminary?: boolean;
      dynamic: true;
    } & Noted)
  | ({ type: 'tool-approval-request'; approvalId: string; toolCallId: string } & Noted)
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } | { type: 'url'; url: URL } }
  | { type: 'source'; sourceType: 'url'; id: string; url: string; title?: string }
  | ({ type: 'custom'; kind: `coxswain.${string}` } & Noted);

/** It has run here, or will: the AI SDK runs nothing. */
interface ByTheAgent {
  providerExecuted: true;
  dynamic: true;
}

interface WordsStart extends Noted {
  type: 'text-start' | 'reasoning-start' | 'text-end' | 'reasoning-end';
  id: string;
}

export type ModelPart =
  | { type: 'stream-start'; warnings: ModelWarning[] }
  | { type: 'response-metadata'; id: string; timestamp: Date; modelId: string }
  | WordsStart
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | WholePart
  | { type: 'error'; error: unknown }
  | ({ type: 'finish' } & ModelEnd);

interface WholeAnswer extends ModelEnd {
  content: (({ type: 'text' | 'reasoning'; text: string } & Noted) | WholePart)[];
  warnings: ModelWarning[];
  response: { id: string; timestamp: Date; modelId: string };
}

/** As far as it is looked at. */
export interface CallOfAgent {
  prompt: readonly object[];
  abortSignal?: AbortSignal | undefined;
}

/** A `LanguageModelV4` of the AI SDK. */
export interface AgentAsModel {
  readonly specificationVersion: 'v4';
  readonly provider: 'coxswain';
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  /** @throws CoxswainError as the session refuses or fails */
  doGenerate(options: CallOfAgent): Promise<WholeAnswer>;
  /** @throws CoxswainError as the session refuses; a failure later is a part `error` */
  doStream(options: CallOfAgent): Promise<{ stream: ReadableStream<ModelPart> }>;
}

export interface AgentModelOptions {
  /** The session of calls that name none in `providerOptions.coxswain.sessionId`. */
  sessionId?: string;
  /** The model's id there. Default the agent's name, or `agent` where sessions are opened. */
  modelId?: string;
  /** What a new message does to calls that are open, as in `session.stream`. Default `cancel`. */
  whilePending?: 'cancel' | 'hold' | 'proceed';
  /** Of each turn. */
  limits?: Limits;
  /** Handed to tools, never logged. */
  deps?: unknown;
}

/** A session, or what opens the one of an id; undefined: a new one. What it opens is closed when the call is over. */
export type Sessions = AgentSession | ((sessionId: string | undefined) => AgentSession | Promise<AgentSession>);
