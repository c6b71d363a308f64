import type { AgentEvent, AgentSession } from '../../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../../contracts/index.ts';
import type { Shape } from '../../../session/index.ts';
import {
  anything,
  badInput,
  checkIs,
  checkOptions,
  either,
  fn,
  having,
  keepNewest,
  name,
  object,
  oneOf,
} from '../../../session/index.ts';
import type { BegunCall } from './agent-parts.ts';
import { PartsOfAgent } from './agent-parts.ts';
import type { AskedOfAgent } from './agent-prompt.ts';
import { readCall } from './agent-prompt.ts';
import type { AgentAsModel, AgentModelOptions, ModelPart, Sessions } from './agent-types.ts';
import { wholeAnswer } from './agent-whole.ts';

const shape: Shape<AgentModelOptions> = {
  sessionId: name,
  modelId: name,
  whilePending: oneOf('cancel', 'hold', 'proceed'),
  limits: object,
  deps: anything,
};

/** Sessions whose last answer is remembered. */
const REMEMBERED = 1000;

/** How an answer has left a session: where the next one begins. */
interface Left {
  open: ReadonlyMap<string, BegunCall>;
  cursor: string | undefined;
  turnId: string | undefined;
}

const nothing: Left = { open: new Map(), cursor: undefined, turnId: undefined };

/**
 * An agent as a language model of the AI SDK 7, for `generateText`, `streamText` and what is built on them. Each call is a stream of a
 * session: of the prompt the newest message of the user is taken, and the rest ignored, since the session has its own history; a prompt that
 * ends with another message continues the turn. Calls of tools have run here, under the host's policy (`providerExecuted`). What asks a person ends the
 * answer with `tool-approval-request`; it is answered by `session.respond` or the host's approvals, never by the prompt.
 * Tools, a system message and JSON formats of the caller are refused.
 *
 * `sessions`: a session, or what opens the one that `providerOptions: { coxswain: { sessionId } }` of a call names, or `sessionId` of the options; what
 * it opens is closed when the call is over. A prompt with a history needs a session that is named.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`; a call that, `UNIMPLEMENTED / E_UNSUPPORTED`, and as the session's own stream
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { agentLanguageModel } from 'coxswain/models';
 *
 * const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })] });
 * const model = agentLanguageModel((sessionId) => host.open('clerk', sessionId ? { sessionId, create: true } : {}));
 * // await generateText({ model, prompt: 'Hello.', providerOptions: { coxswain: { sessionId: 's1' } } });
 * ```
 */
export function agentLanguageModel(sessions: Sessions, options: AgentModelOptions = {}): AgentAsModel {
  checkIs(sessions, 'agentLanguageModel: sessions', either(having('stream', 'events'), fn));
  checkOptions<AgentModelOptions>(options, 'agentLanguageModel: options', shape);
  const own = typeof sessions === 'function' ? undefined : sessions.descriptor.name;
  const model = new AgentModel(sessions, options, options.modelId ?? own ?? 'agent');
  return {
    specificationVersion: 'v4',
    provider: 'coxswain',
    modelId: model.modelId,
    // Nothing is fetched on the way: an address goes to who reads it itself, or not at all.
    supportedUrls: { '*/*': [/^https?:\/\//i] },
    doStream: async (call) => ({ stream: await model.stream(call) }),
    doGenerate: async (call) => wholeAnswer(await model.stream(call, false)),
  };
}

class AgentModel {
  readonly modelId: string;
  readonly #sessions: Sessions;
  readonly #options: AgentModelOptions;
  readonly #left = new Map<string, Left>();

  constructor(sessions: Sessions, options: AgentModelOptions, modelId: string) {
    this.#sessions = sessions;
    this.#options = options;
    this.modelId = modelId;
  }

  /** Resolves with the first word of the session, so that what it refuses is refused here. */
  async stream(given: { abortSignal?: AbortSignal | undefined }, streaming = true): Promise<ReadableStream<ModelPart>> {
    const call = readCall(given);
    const { abortSignal: signal } = given;
    signal?.throwIfAborted();
    const session = await this.#session(call);
    const isOpened = typeof this.#sessions === 'function';
    const parts = this.#parts(session, call, { signal, streaming });
    const close = async () => {
      await parts.return();
      if (isOpened) await session[Symbol.asyncDispose]();
    };
    let next: IteratorResult<ModelPart[], void> | undefined;
    try {
      next = await parts.next();
    } catch (error) {
      await close().catch(() => {});
      throw error;
    }
    const { modelId } = this;
    const { warnings } = call;
    return new ReadableStream<ModelPart>(
      {
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings });
          controller.enqueue({ type: 'response-metadata', id: crypto.randomUUID(), timestamp: new Date(), modelId });
        },
        async pull(controller) {
          try {
            for (;;) {
              const { done, value = [] } = next ?? (await parts.next());
              next = undefined;
              for (const part of value) controller.enqueue(part);
              // Who has given nothing is not asked again.
              if (!done && value.length === 0) continue;
              if (!done) return;
              await close();
              controller.close();
              return;
            }
          } catch (error) {
            await close().catch(() => {});
            controller.error(error);
          }
        },
        cancel: close,
      },
      { highWaterMark: 0 },
    );
  }

  async #session({ sessionId, hasHistory }: AskedOfAgent): Promise<AgentSession> {
    const sessions = this.#sessions;
    if (typeof sessions !== 'function') {
      if (sessionId === undefined || sessionId === sessions.id) return sessions;
      throw badInput(`the model is of session ${sessions.id}, and the call names another one; leave sessionId out`);
    }
    const named = sessionId ?? this.#options.sessionId;
    if (named === undefined && hasHistory) {
      const message =
        'the prompt has earlier messages, and no session is named whose history they would be; name it in providerOptions: { coxswain: { sessionId } }';
      throw badInput(message);
    }
    const session: unknown = await sessions(named);
    checkIs(session, 'agentLanguageModel: what opens sessions gave', having('stream', 'events'));
    return session as AgentSession;
  }

  /** What each event of the session is there; of some it is nothing. */
  async *#parts(
    session: AgentSession,
    call: AskedOfAgent,
    how: { signal: AbortSignal | undefined; streaming: boolean },
  ): AsyncGenerator<ModelPart[], void> {
    const { signal } = how;
    const left = this.#left.get(session.id) ?? nothing;
    const parts = new PartsOfAgent(left.open, call.message === undefined);
    for await (const event of this.#events(session, call, left, how)) {
      if (event.type === 'stream_end') {
        signal?.throwIfAborted();
        const last = parts.write(event);
        this.#remember(session.id, parts);
        yield last;
        return;
      }
      const some = parts.write(event);
      if (some.length > 0 || event.type === 'initialize') yield some;
    }
    signal?.throwIfAborted();
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_RUN_UNFINISHED',
      'the stream of the session ended without an end',
    );
  }

  #remember(sessionId: string, { open, cursor, turnId }: PartsOfAgent): void {
    this.#left.delete(sessionId);
    this.#left.set(sessionId, { open, cursor, turnId });
    keepNewest(this.#left, REMEMBERED);
  }

  async *#events(
    session: AgentSession,
    { message }: AskedOfAgent,
    { cursor, turnId }: Left,
    { signal, streaming }: { signal: AbortSignal | undefined; streaming: boolean },
  ): AsyncGenerator<AgentEvent> {
    const { whilePending, limits, deps } = this.#options;
    const options = {
      streaming,
      ...(signal ? { signal } : {}),
      ...(whilePending ? { whilePending } : {}),
      ...(limits ? { limits } : {}),
      ...(deps === undefined ? {} : { deps }),
    };
    if (message) {
      yield* session.stream(message, options);
      return;
    }
    // A host continues a turn by itself where an answer came by its approvals.
    const place: Place = { after: cursor, turnId, isOver: false, isPast: false };
    yield* since(session, place);
    if (place.isOver) return;
    try {
      yield* session.stream({ kind: 'continue' }, options);
    } catch (error) {
      const code = isCoxswainError(error) && place.after !== undefined ? error.code : undefined;
      if (code === 'E_SESSION_BUSY' && !place.isPast) yield* othersTurn(session, place, signal);
      // It has come to its end since the log was read.
      else if (code === 'E_TURN_COMPLETED') yield* since(session, place);
      if (!place.isOver) throw error;
    }
  }
}

/** How far the log was read for the rest of a turn. */
interface Place {
  after: string | undefined;
  readonly turnId: string | undefined;
  /** Its end was found. */
  isOver: boolean;
  /** Another turn has begun since. */
  isPast: boolean;
}

/** What the log has of the turn behind the place. What others have said since is no part of it. */
async function* since(session: AgentSession, place: Place): AsyncGenerator<AgentEvent> {
  const { after, turnId } = place;
  if (after === undefined) return;
  for await (const event of session.events({ after })) {
    place.after = event.cursor ?? place.after;
    if (event.turnId !== turnId) {
      place.isPast ||= event.turnId !== undefined;
      continue;
    }
    if (event.type === 'stream_end') {
      if (event.reason === 'input_required') continue;
      place.isOver = true;
    }
    yield event;
  }
}

/** What somebody else runs of the turn, to its end: leaving it does not end it. */
async function* othersTurn(
  session: AgentSession,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<AgentEvent> {
  const { after, turnId } = place;
  if (after === undefined) return;
  const events = session.events({ after, live: true })[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    for (;;) {
      const { done, value } = await Promise.race([events.next(), aborted.promise]);
      if (done) return;
      // Another turn is somebody else's, and this one is not there any more.
      if (value.turnId === undefined) continue;
      if (value.turnId !== turnId) return;
      place.isOver = value.type === 'stream_end';
      yield value;
      if (place.isOver) return;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // It may wait for what never comes; how it ends is nobody's matter.
    events.return?.()?.catch(() => {});
  }
}
