import type { Shape } from '../../base/index.ts';
import { amount, bag, checkIs, checkOptions, fn, having, list, name, object, text } from '../../base/index.ts';
import type {
  AgentDescriptor,
  AgentSource,
  AnswerLimits,
  DepsFrom,
  HostContext,
  OutputFrom,
  SessionRef,
  Telemetry,
  WithDeps,
  WithOutput,
} from '../../contracts/index.ts';
import { storeGiven } from '../../contracts/index.ts';
import { boundsIn } from '../../gate/index.ts';
import type { Agent, RunnerOptions, SessionService } from '../../runtime/index.ts';
import {
  AgentTree,
  checkEngine,
  createEngine,
  InMemorySessionService,
  joinBus,
  sessionService,
  strictest,
  warnOnStderr,
} from '../../runtime/index.ts';
import type { DescribeOptions } from '../../runtime/session/index.ts';
import { describeAgent, sessionFor } from '../../runtime/session/index.ts';
import { AdkSession } from './adk-session.ts';
import { hostHooks } from './host-hooks.ts';
import { sessionProvider } from './session-provider.ts';
import { importSnapshot } from './snapshot.ts';

export interface FromAgentOptions
  extends DescribeOptions,
    Pick<RunnerOptions, 'plugins' | 'models' | 'limits' | 'toolConcurrency' | 'services' | 'warn'> {
  /** Used where the host's context has none. Default: in memory. */
  store?: SessionService;
  /** @deprecated Write `store`. */
  sessions?: SessionService;
  /** Of each answer of a model. Default: the host's. */
  answerLimits?: AnswerLimits;
  /** Where spans go, e.g. `otelTelemetry()`. Default: where the host's go. */
  telemetry?: Telemetry;
  /** Milliseconds between two looks for what other processes write to a session. Default: the host's, else 1,000. */
  followPollMs?: number;
  /** Called when a session's handle is closed. */
  onClose?: () => Promise<void>;
}

const fromAgentShape: Shape<FromAgentOptions> = {
  version: text,
  executor: name,
  describe: fn,
  constraints: bag,
  metadata: bag,
  store: sessionService,
  sessions: sessionService,
  plugins: list,
  models: fn,
  limits: object,
  answerLimits: object,
  toolConcurrency: amount,
  telemetry: having('startSpan'),
  services: object,
  warn: fn,
  followPollMs: amount,
  onClose: fn,
};

/** A source that is known by its agent's name, and promises its output. */
export type SourceOf<A extends Agent> = AgentSource &
  WithOutput<OutputFrom<A>> &
  WithDeps<DepsFrom<A>> & { readonly descriptor: { readonly name: A['name'] } };

/**
 * An agent of the runtime as something that a host can open.
 * @example
 * ```ts
 * import { fromAgent, LlmAgent, run } from 'coxswain';
 *
 * const source = fromAgent(new LlmAgent({ name: 'clerk', model: 'gpt-5' }));
 * const session = await source.open({}, { app: 'shop' });
 * console.log((await run(session, 'Hello.')).text);
 * ```
 */
export function fromAgent<const A extends Agent>(agent: A, options: FromAgentOptions = {}): SourceOf<A> {
  // Construction errors belong here, not to the first session.
  checkOptions<FromAgentOptions>(options, 'fromAgent: options', fromAgentShape);
  checkEngine(options, 'fromAgent: options');
  AgentTree.of(agent);
  const descriptor = describeAgent(agent, options);
  const own = storeGiven(options, 'fromAgent: options') ?? new InMemorySessionService();
  return {
    descriptor,
    open: (ref, context) => {
      const service = ref.ephemeral ? new InMemorySessionService() : storeOf(context, own);
      return openSession(agent, descriptor, options, service, ref, context);
    },
    sessions: (context) => sessionProvider(storeOf(context, own), context, AgentTree.of(agent)),
  };
}

function storeOf(context: HostContext, own: SessionService): SessionService {
  const store = storeGiven(context, 'the host: options');
  if (store === undefined) return own;
  checkIs(store, 'the host: options.store', sessionService);
  return store as SessionService;
}

async function openSession(
  agent: Agent,
  descriptor: AgentDescriptor,
  options: FromAgentOptions,
  service: SessionService,
  ref: SessionRef,
  context: HostContext,
): Promise<AdkSession> {
  const scope = { app: context.app, userId: context.userId ?? 'local' };
  joinBus(service, context.bus);
  const warn = options.warn ?? context.warn;
  const copying = { artifacts: options.services?.artifacts, warn: warn ?? warnOnStderr };
  const live = await sessionFor(service, scope, ref, () => importSnapshot(service, scope, ref), copying);
  const plugins = context.hooks
    ? [hostHooks(context.hooks, context.hookTimeoutMs), ...(options.plugins ?? [])]
    : options.plugins;
  const telemetry = options.telemetry ?? context.telemetry;
  const answerLimits = options.answerLimits ?? context.answerLimits;
  const models = modelFinder(options, context);
  const ofHost = hostsCredentials(context);
  const services = ofHost ? { ...ofHost, ...options.services } : options.services;
  const engine = createEngine(
    {
      agent,
      ...(plugins ? { plugins } : {}),
      ...(context.policy ? { policy: context.policy } : {}),
      ...(context.principal ? { principal: context.principal } : {}),
      ...(context.deps === undefined ? {} : { deps: context.deps }),
      ...(models ? { models } : {}),
      limits: strictest(constraintLimits(descriptor), options.limits),
      ...(options.toolConcurrency === undefined ? {} : { toolConcurrency: options.toolConcurrency }),
      ...(answerLimits ? { answerLimits } : {}),
      ...boundsIn(context),
      ...(telemetry ? { telemetry } : {}),
      ...(services ? { services } : {}),
      ...(warn ? { warn } : {}),
    },
    live.key,
  );
  return new AdkSession({
    live,
    engine,
    descriptor,
    followMs: options.followPollMs ?? context.followPollMs,
    onClose: options.onClose,
  });
}

/** Those of the source come first: they are the agent's own. */
function hostsCredentials({ credentials }: HostContext): Services | undefined {
  return credentials === undefined ? undefined : { credentials: credentials as NonNullable<Services['credentials']> };
}

function modelFinder(options: FromAgentOptions, context: HostContext): ModelFinder | undefined {
  const { models: own } = options;
  const ofHost = finderOf(context.models);
  return own && ofHost ? (name) => own(name) ?? ofHost(name) : (own ?? ofHost);
}

type ModelFinder = NonNullable<RunnerOptions['models']>;
type Services = NonNullable<RunnerOptions['services']>;

/** A function, or a registry that has one of this name. */
function finderOf(models: unknown): ModelFinder | undefined {
  const finder = typeof models === 'object' && models !== null ? (models as { models?: unknown }).models : models;
  return typeof finder === 'function' ? (finder as ModelFinder) : undefined;
}

function constraintLimits(descriptor: AgentDescriptor): NonNullable<RunnerOptions['limits']> {
  const { maxTurns, maxLlmCalls, maxTimeMinutes, maxBudgetUsd } = descriptor.constraints ?? {};
  const calls = maxLlmCalls ?? maxTurns;
  return {
    ...(calls === undefined ? {} : { maxLlmCalls: calls }),
    ...(maxTimeMinutes === undefined ? {} : { minutes: maxTimeMinutes }),
    ...(maxBudgetUsd === undefined ? {} : { usd: maxBudgetUsd }),
  };
}
