import { checkIs, checkOptions, checkShape, fn, having, iterable, name, newId, object, signal } from '../base/index.ts';
import type {
  AgentErrorEvent,
  AgentEvent,
  AgentSession,
  AgentStream,
  ExecutionOptions,
  OpenRequest,
  SessionInput,
  StatusOf,
  StreamEndReason,
  Usage,
  WithOutput,
} from '../contracts/index.ts';
import { CoxswainError, isStatusCode, notesOf, openRequestOf, textOfParts } from '../contracts/index.ts';
import { EventStream, StreamSummary } from './stream/index.ts';

export interface RunResult<Out = unknown> {
  /** Why the stream ended. */
  reason: StreamEndReason;
  /**
   * What the agent said on the root thread, messages separated by a blank line; if it said nothing there, the last words
   * of its branches. At most 4,194,304 characters: the last ones, behind a line that says how many are left out.
   */
  text: string;
  /** Structured output, where the agent has an output schema. */
  output?: Out;
  /** The last answer was cut at the model's output limit. */
  truncated?: true;
  /** Open requests: answer them and continue. */
  pending: OpenRequest[];
  /** Of the whole turn. */
  usage: Usage;
  /** Names of the tools whose calls were denied, at most 10,000. */
  denied: string[];
  /** The newest error of the turn; where `reason` is `failed`, why. */
  error?: Pick<CoxswainError, 'status' | 'code' | 'message' | 'retryable'>;
  /** Resume point: `session.events({after: cursor})` shows what happens later. */
  cursor?: string;
}

export interface SessionRunOptions extends ExecutionOptions {
  /** Told of each event, as it comes. */
  onEvent?: (event: AgentEvent) => void;
}

type Input = string | SessionInput | readonly SessionInput[];
/** What a run goes on with, and how; nothing: with the answers that open requests have been given. */
type Given = [input?: Input, options?: SessionRunOptions];

/**
 * Runs one stream to its end and says what it came to: `reason` and `error` report a failure. Without an input it
 * continues the turn, behind the answers to what was open.
 * @throws CoxswainError as the first `next()` of a stream, and `E_NO_MODEL`: without a model no run can come to anything
 * @example
 * ```ts
 * import { createHost, LlmAgent, run } from 'coxswain';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const session = await host.open('clerk');
 * const { reason, text, pending } = await run(session, 'Pay order 7 back.', { limits: { steps: 10 } });
 * console.log(text);
 * if (reason === 'input_required') {
 *   for (const { requestId } of pending) await session.respond(requestId, 'deny');
 *   await run(session);
 * }
 * ```
 */
export function run<Out = unknown>(session: AgentSession & WithOutput<Out>): Promise<RunResult<Out>>;
export function run<Out = unknown>(
  session: AgentSession & WithOutput<Out>,
  input: Input,
  options?: SessionRunOptions,
): Promise<RunResult<Out>>;
export async function run<Out = unknown>(
  session: AgentSession & WithOutput<Out>,
  ...given: Given
): Promise<RunResult<Out>> {
  const [, options = {}] = given;
  // An input that is there and undefined is a mistake, and the stream says so.
  const input = given.length === 0 ? ({ kind: 'continue' } as const) : (given[0] as Input);
  checkIs(session, 'run: session', having('stream'));
  checkShape<Pick<typeof options, 'onEvent'>>(options, 'run: options', { onEvent: fn });
  const { onEvent, ...execution } = options;
  const summary = new StreamSummary({ keepsAll: true });
  for await (const event of session.stream(input, execution)) {
    checkIs(event, 'run: an event of the session', object);
    onEvent?.(event);
    summary.see(event);
  }
  return resultOf(summary);
}

/** @throws CoxswainError `E_NO_MODEL` */
function resultOf<Out>(summary: StreamSummary): RunResult<Out> {
  const { fatal, error, output, cursor } = summary;
  if (fatal?.code === 'E_NO_MODEL')
    throw new CoxswainError(fatal.status as StatusOf<'E_NO_MODEL'>, fatal.code, fatal.message);
  return {
    reason: summary.reason ?? 'failed',
    text: summary.allText || summary.words,
    pending: summary.pending.map((request) => openRequestOf(request)),
    usage: summary.usage,
    denied: summary.denied,
    ...(cursor === undefined ? {} : { cursor }),
    ...(error && { error: runErrorOf(error) }),
    // What its schema says, by whoever opened the session: held to it by the executor.
    ...(output === undefined ? {} : { output: output as Out }),
    ...(summary.truncated && { truncated: true }),
  };
}

/**
 * {@link run}, where anything but an answer is a throw.
 * @throws CoxswainError the run's own error, which reports a limit or an abort too; `FAILED_PRECONDITION / E_RUN_UNFINISHED`
 *   where it waits for answers, or ended otherwise without one
 * @example
 * ```ts
 * import { createHost, LlmAgent, runOrThrow } from 'coxswain';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const { text } = await runOrThrow(await host.open('clerk'), 'How many orders are open?');
 * console.log(text);
 * ```
 */
export function runOrThrow<Out = unknown>(
  session: AgentSession & WithOutput<Out>,
): Promise<RunResult<Out> & { reason: 'completed' }>;
export function runOrThrow<Out = unknown>(
  session: AgentSession & WithOutput<Out>,
  input: Input,
  options?: SessionRunOptions,
): Promise<RunResult<Out> & { reason: 'completed' }>;
export async function runOrThrow<Out = unknown>(
  session: AgentSession & WithOutput<Out>,
  ...given: Given
): Promise<RunResult<Out> & { reason: 'completed' }> {
  const result = await run(session, ...(given as [Input, SessionRunOptions?]));
  const { reason, error, pending } = result;
  if (reason === 'completed') return { ...result, reason: 'completed' };
  if (error && reason !== 'input_required') {
    throw new CoxswainError(error.status, error.code, error.message, { retryable: error.retryable });
  }
  const open = pending.map(({ requestId }) => requestId);
  const waits =
    open.length === 0 ? '' : `: ${open.length} ${open.length === 1 ? 'request waits' : 'requests wait'} for an answer`;
  const message = `the run ended with ${JSON.stringify(reason)}${waits}`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_RUN_UNFINISHED', message, { details: { reason, pending: open } });
}

/**
 * The words of the agent on the root thread, each character once, streaming or not. Returns the stream's end
 * reason.
 * @example
 * ```ts
 * import { createHost, LlmAgent, textOf } from 'coxswain';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const session = await host.open('clerk');
 * for await (const words of textOf(session.stream('Hello'))) process.stdout.write(words);
 * ```
 */
export async function* textOf(stream: AsyncIterable<AgentEvent>): AsyncGenerator<string, StreamEndReason> {
  checkIs(stream, 'textOf: stream', iterable);
  let reason: StreamEndReason = 'failed';
  const shown = new Set<unknown>();
  for await (const event of stream) {
    checkIs(event, 'textOf: an event of the stream', object);
    if (event.type === 'stream_end') reason = event.reason;
    if (event.type !== 'message' || event.role !== 'agent' || event.threadId) continue;
    const { messageId } = notesOf(event);
    if (event.partial) shown.add(messageId);
    else if (shown.has(messageId)) continue;
    const text = textOfParts(event.content);
    if (text !== '') yield text;
  }
  return reason;
}

/** A stream that is read as text, with what it came to. */
export interface StreamReading<Out = unknown> {
  /** The agent's words on the root thread, as they come: {@link textOf}. To be read once; leaving it aborts the stream. */
  readonly text: AsyncIterable<string>;
  /** What the stream came to, once `text` is read or left; where nobody has begun to, this reads it. Rejects as the stream does. */
  result(): Promise<RunResult<Out>>;
}

/**
 * A stream to be read as text, whose end is not lost.
 *
 * ```ts
 * const { text, result } = readStream(session.stream('Hello'));
 * for await (const words of text) process.stdout.write(words);
 * const { reason, usage, pending } = await result();
 * ```
 */
export function readStream<Out = unknown>(stream: AsyncIterable<AgentEvent> & WithOutput<Out>): StreamReading<Out> {
  checkIs(stream, 'readStream: stream', iterable);
  const summary = new StreamSummary({ keepsAll: true });
  const over = Promise.withResolvers<void>();
  // Of whoever reads the text: nobody may ask for the result.
  over.promise.catch(() => {});
  let isBegun = false;
  async function* words(): AsyncGenerator<string> {
    isBegun = true;
    try {
      yield* textOf(seenBy(summary, stream));
    } catch (error) {
      over.reject(error);
      throw error;
    } finally {
      // Read to its end or left; after a rejection this says nothing.
      over.resolve();
    }
  }
  const text = words();
  const read = async () => {
    if (isBegun) await over.promise;
    else for await (const _ of text);
    const result = resultOf<Out>(summary);
    // Without an end it was left, which has aborted it.
    return summary.end ? result : { ...result, reason: 'aborted' as const };
  };
  let result: Promise<RunResult<Out>> | undefined;
  return { text, result: () => (result ??= read()) };
}

async function* seenBy(summary: StreamSummary, stream: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  for await (const event of stream) {
    checkIs(event, 'readStream: an event of the stream', object);
    summary.see(event);
    yield event;
  }
}

/** Makes an AgentStream of a generator: for executors that have nothing better. */
export function agentStream(
  source: (signal: AbortSignal) => AsyncIterable<AgentEvent>,
  options: { streamId?: string; signal?: AbortSignal } = {},
): AgentStream {
  checkIs(source, 'agentStream: source', fn);
  checkOptions<typeof options>(options, 'agentStream: options', { streamId: name, signal });
  const controller = new AbortController();
  const streamId = options.streamId ?? newId();
  const follow = () => controller.abort(options.signal?.reason);
  const abort = async (reason?: string) => {
    controller.abort(new CoxswainError('ABORTED', 'E_ABORTED', reason ?? 'aborted'));
    stream.release();
    await stream.ended;
  };
  const stream: EventStream = new EventStream(
    streamId,
    async (out) => {
      if (options.signal?.aborted) follow();
      options.signal?.addEventListener('abort', follow, { once: true });
      try {
        const events = source(controller.signal);
        checkIs(events, 'agentStream: what its source gave', iterable);
        for await (const event of events) {
          out.push(event);
          const room = out.room('partial' in event && event.partial === true);
          if (room) await room;
        }
      } finally {
        options.signal?.removeEventListener('abort', follow);
      }
    },
    abort,
  );
  return stream;
}

/** Of executors on other machines the status may be any text. */
export function runErrorOf({ status, code, message, retryable }: AgentErrorEvent): NonNullable<RunResult['error']> {
  return { status: isStatusCode(status) ? status : 'UNKNOWN', code: code as CoxswainError['code'], message, retryable };
}
