import type {
  AgentDescriptor,
  AgentSource,
  HostContext,
  SessionHandle,
  SessionProvider,
  SessionRef,
  SessionSnapshot,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson, isCoxswainError, MAX_JSON_DEPTH } from '../../contracts/index.ts';
import type {
  Agent,
  CredentialService,
  Event,
  Model,
  Plugin,
  Services,
  SessionKey,
  SessionRecord,
  SessionService,
  Telemetry,
  TurnLimits,
} from '../../runtime/index.ts';
import {
  AgentTree,
  abandoned,
  assertUniquePlugins,
  Chain,
  checkEngine,
  createEngine,
  createEvent,
  InMemorySessionService,
  LiveSession,
  responseEvent,
  sessionService,
  strictest,
} from '../../runtime/index.ts';
import type { Shape } from '../../session/index.ts';
import {
  Admission,
  amount,
  anything,
  badInput,
  bag,
  checkIs,
  checkShape,
  fn,
  guarded,
  having,
  list,
  name,
  object,
  text,
} from '../../session/index.ts';
import { faultOfEvent } from '../stores/stored-event.ts';
import { AdkSession } from './adk-session.ts';
import type { DescribeOptions } from './descriptor.ts';
import { describeAgent } from './descriptor.ts';
import { hostHooks } from './host-hooks.ts';
import { parseCursor, project } from './project.ts';

export interface FromAgentOptions extends DescribeOptions {
  /** Used where the host's context has none. Default: in memory. */
  sessions?: SessionService;
  plugins?: readonly Plugin[];
  models?: (name: string) => Model | undefined;
  limits?: TurnLimits;
  toolConcurrency?: number;
  /** Where spans go, e.g. `otelTelemetry()`. Default: where the host's go. */
  telemetry?: Telemetry;
  /** Memory and artifacts that tools, hooks and instructions reach. */
  services?: Services;
  warn?: (message: string, error?: unknown) => void;
  /** Called when a session's handle is closed. */
  onClose?: () => Promise<void>;
}

const fromAgentShape: Shape<FromAgentOptions> = {
  version: text,
  executor: name,
  describe: fn,
  constraints: bag,
  metadata: bag,
  sessions: sessionService,
  plugins: list,
  models: fn,
  limits: object,
  toolConcurrency: amount,
  telemetry: having('startSpan'),
  services: object,
  warn: fn,
  onClose: fn,
};

/** An agent of the runtime as something that a host can open. */
export function fromAgent(agent: Agent, options: FromAgentOptions = {}): AgentSource {
  // Construction errors belong here, not to the first session.
  checkShape<FromAgentOptions>(options, 'fromAgent: options', fromAgentShape);
  checkEngine(options, 'fromAgent: options');
  AgentTree.of(agent);
  assertUniquePlugins(options.plugins ?? []);
  const descriptor = describeAgent(agent, options);
  const own = options.sessions ?? new InMemorySessionService();
  return {
    descriptor,
    open: (ref, context) => {
      const service = ref.ephemeral ? new InMemorySessionService() : storeOf(context, own);
      return openSession(agent, descriptor, options, service, ref, context);
    },
    sessions: (context) => sessionProvider(storeOf(context, own), context),
  };
}

function storeOf(context: HostContext, own: SessionService): SessionService {
  if (context.sessions === undefined) return own;
  checkIs(context.sessions, 'the host: options.sessions', sessionService);
  return context.sessions as SessionService;
}

/** Of all sessions of this process. */
const opens = new Admission();

async function openSession(
  agent: Agent,
  descriptor: AgentDescriptor,
  options: FromAgentOptions,
  service: SessionService,
  ref: SessionRef,
  context: HostContext,
): Promise<AdkSession> {
  const turn = opens.enter();
  if (turn) await turn;
  const scope = { app: context.app, userId: context.userId ?? 'local' };
  const live = LiveSession.of(service, await recordFor(service, scope, ref));
  const plugins = context.hooks ? [hostHooks(context.hooks), ...(options.plugins ?? [])] : options.plugins;
  const telemetry = options.telemetry ?? context.telemetry;
  const models = modelFinder(options, context);
  const ofHost = hostsCredentials(context);
  const services = ofHost ? { ...ofHost, ...options.services } : options.services;
  const engine = createEngine(
    {
      agent,
      ...(plugins ? { plugins } : {}),
      ...(context.policy ? { policy: context.policy } : {}),
      ...(context.principal ? { principal: context.principal } : {}),
      ...(models ? { models } : {}),
      limits: strictest(constraintLimits(descriptor), options.limits),
      ...(options.toolConcurrency === undefined ? {} : { toolConcurrency: options.toolConcurrency }),
      ...(telemetry ? { telemetry } : {}),
      ...(services ? { services } : {}),
      ...(options.warn ? { warn: options.warn } : {}),
    },
    live.key,
  );
  return new AdkSession({
    live,
    engine,
    descriptor,
    onClose: options.onClose,
  });
}

/** Those of the source come first: they are the agent's own. */
function hostsCredentials({ credentials }: HostContext): Services | undefined {
  return credentials === undefined ? undefined : { credentials: credentials as CredentialService };
}

function modelFinder(options: FromAgentOptions, context: HostContext): ModelFinder | undefined {
  const { models: own } = options;
  const ofHost = finderOf(context.models);
  return own && ofHost ? (name) => own(name) ?? ofHost(name) : (own ?? ofHost);
}

type ModelFinder = (name: string) => Model | undefined;

/** A function, or a registry that has one of this name. */
function finderOf(models: unknown): ModelFinder | undefined {
  const finder = typeof models === 'object' && models !== null ? (models as { models?: unknown }).models : models;
  return typeof finder === 'function' ? (finder as ModelFinder) : undefined;
}

function constraintLimits(descriptor: AgentDescriptor): TurnLimits {
  const { maxTurns, maxLlmCalls, maxTimeMinutes, maxBudgetUsd } = descriptor.constraints ?? {};
  const calls = maxLlmCalls ?? maxTurns;
  return {
    ...(calls === undefined ? {} : { maxLlmCalls: calls }),
    ...(maxTimeMinutes === undefined ? {} : { minutes: maxTimeMinutes }),
    ...(maxBudgetUsd === undefined ? {} : { usd: maxBudgetUsd }),
  };
}

/** The session that a reference means: found, made, imported or copied. */
async function recordFor(
  service: SessionService,
  scope: { app: string; userId: string },
  ref: SessionRef,
): Promise<SessionRecord> {
  if (ref.snapshot) return importSnapshot(service, scope, ref);
  const id = ref.sessionId;
  if (id === undefined) return service.create(scope, ref.state ? { state: ref.state } : {});
  const key = { ...scope, id };
  const found = await service.get(key);
  if (found && ref.fork) {
    const after = forkedAt(ref.fork);
    const settle = settling(service);
    if (after === undefined) return service.fork(key, { settle });
    const through = parseCursor(after)?.seq;
    if (through !== undefined && through <= found.lastSeq) return service.fork(key, { through, settle });
    const message = `${JSON.stringify(after.slice(0, 64))} is no cursor of session ${id}; fork.after is the cursor of one of its events`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  if (found) return found;
  if (!ref.create) throw notFound(id);
  try {
    return await service.create(key, ref.state ? { state: ref.state } : {});
  } catch (error) {
    // Somebody else made it meanwhile.
    const made = isCoxswainError(error) && error.code === 'E_SESSION_EXISTS' ? await service.get(key) : undefined;
    if (!made) throw error;
    return made;
  }
}

function forkedAt(fork: true | { after?: string }): string | undefined {
  if (fork === true) return undefined;
  checkShape<typeof fork>(fork, 'open: fork', { after: text });
  return fork.after;
}

async function importSnapshot(
  service: SessionService,
  scope: { app: string; userId: string },
  ref: SessionRef,
): Promise<SessionRecord> {
  const { id, log, initialState } = readSnapshot(ref);
  const key: SessionKey = { ...scope, id };
  if (!ref.fork) {
    const known = await service.get(key);
    if (known) return known;
  }
  const events = log.map(asEvent);
  const made = await service.create(ref.fork ? scope : key, { state: ref.state ?? initialState ?? {} });
  try {
    // A copy begins an audit chain of its own.
    const linked = new Chain().link(events);
    const copy = { ...made, lastSeq: linked.length, events: linked.map((event, n) => ({ ...event, seq: n + 1 })) };
    const settled = ref.fork ? settling(service)(copy) : [];
    if (events.length > 0) await service.append(made.key, [...linked, ...settled]);
  } catch (error) {
    // Half a session is none.
    await service.delete(made.key);
    throw error;
  }
  return (await service.get(made.key)) ?? made;
}

function readSnapshot({ snapshot }: SessionRef): { id: string; log: Event[]; initialState?: Record<string, unknown> } {
  const { id, log, initialState } = guarded('open: snapshot', () => ({ ...snapshot }));
  if (log === undefined) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      'the snapshot has no log; it cannot be opened here',
    );
  }
  checkIs(id, 'open: snapshot.id', text);
  checkIs(log, 'open: snapshot.log', list);
  const copy = copyJson(log, 'open: snapshot.log', 2 * MAX_JSON_DEPTH);
  return { id: id as string, log: copy as Event[], ...(initialState ? { initialState } : {}) };
}

function asEvent(given: Event, index: number): Event {
  const where = `open: snapshot.log[${index}]`;
  checkIs(given, where, object);
  const { chain: _, ...event } = given;
  checkIs(event.actions, `${where}.actions`, object);
  const made = createEvent({ ...event, seq: 0 });
  const fault = faultOfEvent({ ...made });
  if (fault !== undefined) throw badInput(`${where} is no event: look at its ${fault}`);
  return made;
}

/** What ends a copy's log: it does not inherit open questions, or one payment could be approved twice. */
export function settling(service: SessionService): (copy: SessionRecord) => readonly Event[] {
  return (copy) => settlement(LiveSession.apart(service, copy));
}

function settlement(live: LiveSession): readonly Event[] {
  const { fold } = live;
  if (fold.open.size === 0) return [];
  const origin = { streamId: '', invocationId: '' };
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, 'the session was forked', false), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    events.push(
      createEvent({ turnId: fold.turn.id, author: fold.occupant ?? '', actions: { end: { reason: 'aborted' } } }),
    );
  }
  return live.link(events);
}

/** Stored sessions of the context's (app, user). */
export function sessionProvider(service: SessionService, context: HostContext): SessionProvider {
  const scope = { app: context.app, userId: context.userId ?? 'local' };
  return {
    async create(options = {}) {
      checkShape<typeof options>(options, 'sessions.create: options', { id: anything, state: object, title: text });
      const { id, ...rest } = options;
      return handleOf(await service.create(id === undefined ? scope : { ...scope, id }, rest));
    },
    async load(sessionId) {
      const record = await service.get({ ...scope, id: sessionId });
      return record && handleOf(record);
    },
    list: async (options = {}) => service.list(scope, options),
    delete: async (sessionId) => service.delete({ ...scope, id: sessionId }),
    async open(options = {}) {
      checkShape<typeof options>(options, 'sessions.open: options', { userId: text });
      const calls = await service.openCalls({ app: scope.app, ...options });
      const seen = new Map<string, { userId: string; sessionId: string; calls: string[] }>();
      for (const { key, callId } of calls) {
        const name = JSON.stringify(key);
        const known = seen.get(name);
        if (known) known.calls.push(callId);
        else seen.set(name, { userId: key.userId, sessionId: key.id, calls: [callId] });
      }
      return [...seen.values()];
    },
  };
}

function handleOf(record: SessionRecord): SessionHandle {
  return {
    id: record.key.id,
    agentName: record.key.app,
    events: record.events.flatMap((event) => project(record.key.id, event)),
    state: { ...record.state },
    lastUpdateTime: record.updatedAt,
  };
}

/** A session as data, to be opened elsewhere. */
export async function snapshotOf(session: AdkSession): Promise<SessionSnapshot> {
  const { live } = session;
  await live.catchUp();
  return {
    id: live.key.id,
    agentName: live.key.app,
    userId: live.key.userId,
    events: live.log.flatMap((event) => project(live.key.id, event)),
    state: { ...live.fold.shared, ...live.fold.state },
    lastUpdateTime: live.log.at(-1)?.timestamp ?? Date.now(),
    // What was cut is not in it, so nothing marks the place of the cut.
    log: live.log.map((event) => (event.actions.rewound ? unmarked(event) : event)),
    initialState: { ...live.initialState },
  };
}

function unmarked(event: Event): Event {
  const { rewound: _, ...actions } = event.actions;
  return { ...event, actions };
}

function notFound(id: string): CoxswainError {
  return new CoxswainError(
    'NOT_FOUND',
    'E_SESSION_NOT_FOUND',
    `there is no session ${id}; pass create: true to make it, or list what is there`,
  );
}
