import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { ModelResponse } from '../../runtime/index.ts';
import { newId } from '../../runtime/index.ts';
import { bag, checkIs } from '../../session/index.ts';
import type { AutoToolsInput } from './chat.ts';
import type { ChatWithOptions } from './conversation.ts';
import { conversationOf } from './conversation.ts';
import type { AutoToolsOptions, AutoToolsPhase, GenerateOptions } from './options.ts';
import { rawFrames } from './raw.ts';
import { modelOfOptions, request } from './request.ts';
import type { AutoToolsResponse } from './response.ts';
import { tell } from './tell.ts';

/** What a subscriber hears: pieces of the final answer, then exactly one of the other two. */
export type AutoToolsStreamEvent =
  | { readonly type: 'stream_event'; readonly streamId: string; readonly text: string }
  | { readonly type: 'stream_complete'; readonly streamId: string; readonly response: AutoToolsResponse }
  | { readonly type: 'stream_error'; readonly streamId: string; readonly error: CoxswainError };

/**
 * The final answer's text as it comes, over any number of tool rounds. Starts with the first reader; each reader and
 * subscriber gets all of it, whenever it comes. Leaving a `for await` aborts.
 */
export class AutoToolsStream implements AsyncIterableIterator<string> {
  readonly id: string = newId();
  readonly #conversation: ChatWithOptions;
  readonly #abort = new AbortController();
  readonly #subscribers = new Set<(event: AutoToolsStreamEvent) => void>();
  /** Text of the answer, in pieces. */
  readonly #text: string[] = [];
  /** Pieces of a round that may still turn out to hold a call. */
  #round: string[] = [];
  #read = 0;
  #phase: AutoToolsPhase = 'awaiting_model_call';
  #running: Promise<AutoToolsResponse> | undefined;
  #terminal: AutoToolsStreamEvent | undefined;
  #wake: (() => void)[] = [];
  #isLeft = false;

  constructor(conversation: ChatWithOptions) {
    this.#conversation = conversation;
  }

  get phase(): AutoToolsPhase {
    return this.#phase;
  }

  /** The whole answer; starts the request. Rejects with what `stream_error` says. */
  get response(): Promise<AutoToolsResponse> {
    return this.#start();
  }

  /** Hears everything from the start on, also what came before. Returns what ends it. */
  subscribe(listener: (event: AutoToolsStreamEvent) => void): () => void {
    for (const text of this.#text) this.#tell(listener, { type: 'stream_event', streamId: this.id, text });
    if (this.#terminal) this.#tell(listener, this.#terminal);
    else {
      this.#subscribers.add(listener);
      void this.#start();
    }
    return () => void this.#subscribers.delete(listener);
  }

  abort(reason: unknown = 'the stream was aborted'): void {
    this.#abort.abort(reason);
  }

  async next(): Promise<IteratorResult<string>> {
    void this.#start();
    for (;;) {
      if (this.#isLeft) return { done: true, value: undefined };
      const text = this.#text[this.#read];
      if (text !== undefined) {
        this.#read++;
        return { done: false, value: text };
      }
      if (this.#terminal?.type === 'stream_error') throw this.#terminal.error;
      if (this.#terminal) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
      });
    }
  }

  /** Resolves when nothing runs any more. */
  async return(): Promise<IteratorResult<string>> {
    this.#isLeft = true;
    this.abort('the consumer left');
    // What it came to is told to subscribers and whoever waits for the response.
    await this.#running?.catch(() => {});
    this.#wakeAll();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): Promise<AutoToolsResponse> {
    if (this.#running) return this.#running;
    const { chat, options } = this.#conversation;
    const signal = options.signal ? AbortSignal.any([options.signal, this.#abort.signal]) : this.#abort.signal;
    this.#running = request({ chat, options: { ...options, signal } }, true, {
      phase: (phase) => {
        this.#phase = phase;
      },
      delta: (text) => void this.#round.push(text),
      spoken: (content, isAnswer) => this.#spoken(content.parts, isAnswer),
    });
    this.#running.then(
      (response) => this.#end({ type: 'stream_complete', streamId: this.id, response }),
      (error: unknown) => this.#end({ type: 'stream_error', streamId: this.id, error: asError(error) }),
    );
    return this.#running;
  }

  #spoken(parts: AutoToolsResponse['content']['parts'], isAnswer: boolean): void {
    const round = this.#round;
    this.#round = [];
    if (!isAnswer) return;
    const whole = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    // A model that does not stream, or a hook that has replaced what was streamed.
    const pieces = round.join('') === whole ? round : whole === '' ? [] : [whole];
    for (const text of pieces) {
      this.#text.push(text);
      const event: AutoToolsStreamEvent = { type: 'stream_event', streamId: this.id, text };
      for (const listener of [...this.#subscribers]) this.#tell(listener, event);
    }
    this.#wakeAll();
  }

  #end(event: AutoToolsStreamEvent): void {
    this.#round = [];
    this.#terminal = event;
    for (const listener of [...this.#subscribers]) this.#tell(listener, event);
    this.#subscribers.clear();
    this.#wakeAll();
  }

  #tell(listener: (event: AutoToolsStreamEvent) => void, event: AutoToolsStreamEvent): void {
    tell(`a subscriber of stream ${this.id}`, () => listener(event), this.#conversation.options.warn);
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function asError(error: unknown): CoxswainError {
  if (error instanceof CoxswainError) return error;
  return new CoxswainError('INTERNAL', 'E_INTERNAL', messageOf(error), { cause: error });
}

/**
 * As `generateWithAutoTools`, but shows the final answer's text as soon as its round is known to hold no call. What a
 * round with calls says is never shown.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`; what fails later is the stream's end
 */
export function streamWithAutoTools(
  input: AutoToolsInput,
  options: AutoToolsOptions | Partial<AutoToolsOptions>,
): AutoToolsStream {
  return new AutoToolsStream(conversationOf(input, options));
}

/**
 * One model call, streamed: its frames as they are, calls included; nothing runs. With `autoExecuteTools: true` it is
 * `streamWithAutoTools`.
 */
export function streamContent(
  input: AutoToolsInput,
  options: (AutoToolsOptions | Partial<AutoToolsOptions>) & { autoExecuteTools: true },
): AutoToolsStream;
export function streamContent(
  input: AutoToolsInput,
  options: (GenerateOptions | Partial<GenerateOptions>) & { autoExecuteTools?: false },
): AsyncIterableIterator<ModelResponse>;
export function streamContent(
  input: AutoToolsInput,
  options: (AutoToolsOptions | Partial<AutoToolsOptions>) & { autoExecuteTools?: boolean },
): AutoToolsStream | AsyncIterableIterator<ModelResponse> {
  checkIs(options, 'options', bag);
  const { autoExecuteTools = false, ...rest } = options;
  if (autoExecuteTools) return streamWithAutoTools(input, rest);
  return frames(conversationOf(input, rest));
}

async function* frames(conversation: ChatWithOptions): AsyncGenerator<ModelResponse> {
  yield* rawFrames(await modelOfOptions(conversation.options), conversation, true);
}
