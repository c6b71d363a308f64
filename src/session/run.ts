import { checkIs, checkOptions, checkShape, fn, having, iterable, name, newId, object, signal } from '../base/index.ts';
import type {
  AgentEvent,
  AgentSession,
  AgentStream,
  ExecutionOptions,
  PendingRequest,
  SessionInput,
  StatusOf,
  StreamEndReason,
  Usage,
} from '../contracts/index.ts';
import { CoxswainError, notesOf, textOfParts } from '../contracts/index.ts';
import { EventStream, StreamSummary } from './stream/index.ts';

export interface RunResult {
  /** Why the stream ended. */
  reason: StreamEndReason;
  /**
   * What the agent said on the root thread, messages separated by a blank line; if it said nothing there, the last words
   * of its branches. At most 4,194,304 characters: the last ones, behind a line that says how many are left out.
   */
  text: string;
  /** Structured output, where the agent has an output schema. */
  output?: unknown;
  /** The last answer was cut at the model's output limit. */
  truncated?: true;
  /** Open requests: answer them and continue. */
  pending: PendingRequest[];
  /** Of the whole turn. */
  usage: Usage;
  /** Names of the tools whose calls were denied, at most 10,000. */
  denied: string[];
  error?: { status: string; code: string; message: string };
  /** Resume point: `session.events({after: cursor})` shows what happens later. */
  cursor?: string;
}

/**
 * Runs one stream to its end and says what it came to: `reason` and `error` tell a failure.
 * @throws CoxswainError as the first `next()` of a stream, and `E_NO_MODEL`: without a model no run can come to anything
 */
export async function run(
  session: AgentSession,
  input: string | SessionInput | readonly SessionInput[],
  options: ExecutionOptions & { onEvent?: (event: AgentEvent) => void } = {},
): Promise<RunResult> {
  checkIs(session, 'run: session', having('stream'));
  checkShape<Pick<typeof options, 'onEvent'>>(options, 'run: options', { onEvent: fn });
  const { onEvent, ...execution } = options;
  const summary = new StreamSummary({ keepsAll: true });
  for await (const event of session.stream(input, execution)) {
    checkIs(event, 'run: an event of the session', object);
    onEvent?.(event);
    summary.see(event);
  }
  const { fatal, error, output, cursor } = summary;
  if (fatal?.code === 'E_NO_MODEL')
    throw new CoxswainError(fatal.status as StatusOf<'E_NO_MODEL'>, fatal.code, fatal.message);
  return {
    reason: summary.reason ?? 'failed',
    text: summary.allText || summary.words,
    pending: summary.pending,
    usage: summary.usage,
    denied: summary.denied,
    ...(cursor === undefined ? {} : { cursor }),
    ...(error && { error: { status: error.status, code: error.code, message: error.message } }),
    ...(output === undefined ? {} : { output }),
    ...(summary.truncated && { truncated: true }),
  };
}

/**
 * The words of the agent on the root thread, each character once, streaming or not. Returns the stream's end
 * reason.
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
