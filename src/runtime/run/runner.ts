import type { Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  checkOptions,
  checkShape,
  flag,
  fn,
  guarded,
  having,
  list,
  name,
  names,
  object,
  oneOf,
  required,
  signal,
  text,
  texts,
  warnWith,
} from '../../base/index.ts';
import type {
  AnswerLimits,
  Content,
  ContentPart,
  PolicyEvaluator,
  Principal,
  SessionInput,
  ToolUpdate,
} from '../../contracts/index.ts';
import { assertSafeId, CoxswainError, isCoxswainError, storeGiven } from '../../contracts/index.ts';
import { boundsIn, DEFAULT_TOOL_CONCURRENCY, denyOverrides } from '../../gate/index.ts';
import { answerLimits, guardedTelemetry, normaliseInput, permissionMode, StreamQueue } from '../../session/index.ts';
import type { Agent, AgentContext, Engine, InvocationOptions, RunSink, Telemetry, TurnLimits } from '../agent/index.ts';
import { AgentTree, strictest } from '../agent/index.ts';
import { checkPlugins, services, sessionService, turnLimits } from '../agents/index.ts';
import type { Plugin } from '../hooks/index.ts';
import { LiveSession } from '../live/index.ts';
import type { EventInit, StoredEvent } from '../log/index.ts';
import { createEvent, threadOf } from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { Services } from '../services/index.ts';
import { SessionServices } from '../services/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';
import { InMemorySessionService } from '../store/index.ts';
import { Invocation } from './invocation.ts';
import { joinedPartials } from './joined-partials.ts';

export interface RunnerOptions {
  /** Name space of sessions and state. */
  app: string;
  agent: Agent;
  /** Default: in memory. */
  store?: SessionService;
  /** @deprecated Write `store`. */
  sessions?: SessionService;
  plugins?: readonly Plugin[];
  policy?: PolicyEvaluator;
  principal?: Principal;
  /** Handed to tools, unless a run gives others; never logged. */
  deps?: unknown;
  /** Finds models by name. */
  models?: (name: string) => Model | undefined;
  limits?: TurnLimits;
  /** Of each answer of a model. */
  answerLimits?: AnswerLimits;
  /** Bytes of JSON that a model is given of one result; the whole is kept by `spill`. Default 1 MiB. */
  maxResultBytes?: number;
  /** Keeps what is larger and says under which name. Default: the artifact service, if there is one. */
  spill?: (name: string, body: string | Uint8Array) => Promise<string>;
  /** Calls of one batch that run side by side. Default 64. */
  toolConcurrency?: number;
  /** Milliseconds that one run of a tool may take, unless the tool says otherwise. Default 0: no limit. */
  toolTimeoutMs?: number;
  /** Where spans go, e.g. `otelTelemetry()`. */
  telemetry?: Telemetry;
  /** Memory and artifacts that tools, hooks and instructions reach. */
  services?: Services;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

export interface RunRequest extends InvocationOptions {
  userId: string;
  sessionId: string;
  /** Message text, parts, or session inputs. */
  input: string | Content | SessionInput | readonly SessionInput[];
}

/** One list for all, so that what agents keep for a list of plugins is found again. */
const noServices: Services = Object.freeze({});
const noPlugins: readonly Plugin[] = Object.freeze([]);

/** What is in the members of a runner's or a source's options. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkEngine(
  options: Pick<RunnerOptions, 'plugins' | 'limits' | 'answerLimits' | 'services'>,
  where: string,
): void {
  checkPlugins(options.plugins ?? [], `${where}.plugins`);
  assertUniquePlugins(options.plugins ?? []);
  if (options.limits) checkOptions<TurnLimits>(options.limits, `${where}.limits`, turnLimits);
  if (options.answerLimits) checkOptions<AnswerLimits>(options.answerLimits, `${where}.answerLimits`, answerLimits);
  if (options.services) checkShape<Services>(options.services, `${where}.services`, services);
}

/** What all runs of one agent share. */
export function createEngine(options: Omit<RunnerOptions, 'app' | 'store' | 'sessions'>, key: SessionKey): Engine {
  const plugins = options.plugins ?? noPlugins;
  const warn = warnWith(options.warn);
  assertUniquePlugins(plugins);
  return {
    tree: AgentTree.of(options.agent),
    plugins,
    policy: policyOf(options.policy, plugins),
    principal: options.principal,
    deps: options.deps,
    models: options.models,
    toolConcurrency: options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY,
    toolTimeoutMs: options.toolTimeoutMs,
    services: new SessionServices(options.services ?? noServices, key),
    limits: options.limits ?? {},
    answerLimits: options.answerLimits,
    ...boundsIn(options),
    telemetry: options.telemetry && guardedTelemetry(options.telemetry, warn),
    warn,
  };
}

/** Hooks can be passed by, and the first that returns something silences the rest: a plugin's policy is none of them. */
function policyOf(own: PolicyEvaluator | undefined, plugins: readonly Plugin[]): PolicyEvaluator | undefined {
  const all = [own, ...plugins.map(({ policy }) => policy)].filter((policy) => policy !== undefined);
  return all.length > 1 ? denyOverrides(...all) : all[0];
}

const runner: Shape<RunnerOptions> = {
  app: anything,
  agent: anything,
  store: sessionService,
  sessions: sessionService,
  plugins: list,
  policy: having('evaluate'),
  principal: object,
  deps: anything,
  models: fn,
  limits: object,
  answerLimits: object,
  maxResultBytes: amount,
  spill: fn,
  toolConcurrency: amount,
  toolTimeoutMs: amount,
  telemetry: having('startSpan'),
  services: object,
  warn: fn,
};

const run: Shape<RunRequest> = {
  userId: required(text),
  sessionId: required(text),
  input: required(anything),
  streamId: name,
  tools: list,
  excludeTools: names,
  model: name,
  hostToolExecution: flag,
  streaming: flag,
  permissionMode,
  whilePending: oneOf('cancel', 'hold', 'proceed'),
  limits: object,
  signal,
  deps: anything,
  traceContext: texts,
  terms: object,
};

/** The runtime's own front: runs an agent and yields its events. AgentSession stands on the same parts. */
export class Runner {
  readonly app: string;
  readonly store: SessionService;
  readonly tree: AgentTree;
  readonly #options: RunnerOptions;
  readonly #live = new Map<string, Promise<LiveSession>>();

  /** @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_AGENT | E_DUPLICATE_PLUGIN | E_ID` */
  constructor(options: RunnerOptions) {
    checkOptions<RunnerOptions>(options, 'Runner: options', runner);
    assertSafeId('app', options.app);
    checkEngine(options, 'Runner: options');
    this.app = options.app;
    this.store = storeGiven(options, 'Runner: options') ?? new InMemorySessionService();
    this.tree = AgentTree.of(options.agent);
    this.#options = options;
  }

  /**
   * Runs one invocation; an unknown session is created. Lazy: the consumer sees event n before n + 1 is made. Yields
   * partial events (not stored) and stored ones. Refused inputs throw at the first `next()`; later failures are
   * events.
   */
  run(request: RunRequest): AsyncIterableIterator<StoredEvent> {
    let invocation: Invocation | undefined;
    const queue = new StreamQueue<StoredEvent>(
      async (out) => {
        checkOptions<RunRequest>(request, 'run', run);
        if (request.limits) checkOptions<TurnLimits>(request.limits, 'run: limits', turnLimits);
        const session = await this.#session(request.userId, request.sessionId);
        const { limits, ...options } = request;
        const engine = createEngine({ ...this.#options, limits: strictest(this.#options.limits, limits) }, session.key);
        invocation = new Invocation(session, engine, options, new EventSink(out));
        await invocation.run(asInputs(request.input));
      },
      async () => invocation?.abort('the consumer left'),
      joinedPartials,
    );
    return queue;
  }

  #session(userId: string, id: string): Promise<LiveSession> {
    const name = JSON.stringify([userId, id]);
    let live = this.#live.get(name);
    if (!live) {
      live = openOrCreate(this.store, { app: this.app, userId, id });
      live.catch(() => this.#live.delete(name));
      this.#live.set(name, live);
    }
    return live;
  }
}

/** The session, made where it does not exist. */
export async function openOrCreate(service: SessionService, key: SessionKey): Promise<LiveSession> {
  const live = await LiveSession.find(service, key);
  if (live) return live;
  try {
    return LiveSession.of(service, await service.create(key));
  } catch (error) {
    // Made by somebody else in between.
    if (isCoxswainError(error) && error.code === 'E_SESSION_EXISTS') return LiveSession.open(service, key);
    throw error;
  }
}

function asInputs(input: RunRequest['input']): SessionInput[] {
  const parts = guarded('the input', () =>
    typeof input === 'object' && 'parts' in input && 'role' in input ? (input as Content).parts : undefined,
  );
  if (parts !== undefined) return normaliseInput({ kind: 'message', content: parts });
  return normaliseInput(input as string | SessionInput | readonly SessionInput[]);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_PLUGIN` */
export function assertUniquePlugins(plugins: readonly Plugin[]): void {
  const names = new Set<string>();
  for (const plugin of plugins) {
    if (names.has(plugin.name)) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_PLUGIN', `two plugins are named ${plugin.name}`);
    }
    names.add(plugin.name);
  }
}

/** Shows a run as runtime events. */
class EventSink implements RunSink {
  readonly #out: StreamQueue<StoredEvent>;

  constructor(out: StreamQueue<StoredEvent>) {
    this.#out = out;
  }

  accepted(): void {}

  event(event: StoredEvent): void {
    this.#out.push(event);
  }

  delta(context: AgentContext, messageId: string, part: number, delta: ContentPart): void {
    const content: Content = { role: 'model', parts: [delta] };
    this.#push(context, { id: messageId, content, customMetadata: { part } });
  }

  toolUpdate(context: AgentContext, callId: string, update: ToolUpdate): void {
    this.#push(context, { customMetadata: { toolUpdate: { callId, ...update } } });
  }

  /** What is shown and not stored. */
  #push({ agent, place, invocation }: AgentContext, shown: Partial<EventInit>): void {
    const event = createEvent({
      author: agent.name,
      turnId: invocation.turnId,
      invocationId: invocation.invocationId,
      streamId: invocation.streamId,
      path: place.path,
      partial: true,
      turnComplete: false,
      ...shown,
    });
    const { branch, iso, thread } = place;
    if (branch !== undefined) event.branch = branch;
    if (iso[0] !== undefined) event.iso = iso[0];
    if (thread !== undefined && thread !== threadOf(event)) event.thread = thread;
    this.#out.push(event);
  }

  room(partial: boolean): Promise<void> | undefined {
    return this.#out.room(partial);
  }

  letIn(): void {
    this.#out.letIn();
  }

  release(): void {
    this.#out.release();
  }
}
