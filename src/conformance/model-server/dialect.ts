import type { FixtureEntry } from './fixture.ts';

/** What can go wrong with a model, on purpose. */
export interface Fault {
  /** Milliseconds before anything is answered. */
  delayMs?: number;
  /** An error instead of an answer, e.g. 429 or 500. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** The connection is destroyed after so many bytes of the body. */
  cutAfterBytes?: number;
  /** An error of the provider in the middle of a stream. */
  midStream?: boolean;
  /** Arguments that are not JSON. */
  malformedArgs?: boolean;
  /** What a sloppy server leaves out. */
  missing?: readonly ('index' | 'id' | 'finish')[];
}

/** What providers keep on an answer and want back unchanged: the signature of a thought. */
export const OPAQUE_STATE = 'b3BhcXVl+/8=';

/** One answer of the scripted model, in whatever dialect it is asked for. */
export interface ModelTurn {
  thought?: string;
  text?: string;
  calls?: readonly { name: string; args: Record<string, unknown>; id?: string }[];
  usage?: { inputTokens: number; outputTokens: number };
  /** Default `calls` or `stop`. */
  finish?: 'stop' | 'calls' | 'length' | 'refusal';
  fault?: Fault;
  /** Begins and never goes on. */
  wait?: boolean;
}

export interface ScriptedCall {
  id: string;
  name: string;
  /** As it goes over the wire. */
  json: string;
  args: unknown;
}

/** A turn with everything that a dialect has to write down. */
export interface ScriptedAnswer {
  thought: string;
  text: string;
  calls: ScriptedCall[];
  usage: { inputTokens: number; outputTokens: number };
  finish: NonNullable<ModelTurn['finish']>;
  lacks(what: 'index' | 'id' | 'finish'): boolean;
}

/** How one provider's protocol is read and written. */
export interface WireDialect {
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';
  /** Of the path without its query. */
  readonly path: RegExp;
  streams(path: string, body: Json): boolean;
  /** The conversation so far. */
  read(body: Json): FixtureEntry[];
  whole(answer: ScriptedAnswer): Json;
  /** Events of a stream, in order, as they are sent. */
  frames(answer: ScriptedAnswer): string[];
  error(status: number, message: string): Json;
  /** An error as an event of a stream. */
  midStream(message: string): string;
}

export type Json = Record<string, unknown>;

export const jsonList = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** Words, so that streams have several deltas. */
export const words = (text: string): string[] => text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);

/** Pieces of arguments, cut anywhere but inside a character. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [''];
}

/** A server-sent event without a name. */
export const data = (value: unknown): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

/** A server-sent event that is named for its type. */
export const namedEvent = (value: { type: string } & Json): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** Text content, a string or an array of parts, as texts. */
export function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return jsonList(content).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}
