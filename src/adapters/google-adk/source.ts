import type {
  AgentConstraints,
  AgentDescriptor,
  AgentSource,
  CompositionConfig,
  ToolAnnotations,
  ToolDescriptor,
} from '../../contracts/index.ts';
import { CoxswainError, storeGiven } from '../../contracts/index.ts';
import type { WatchdogOptions } from '../../dispatch/index.ts';
import { dispatchAgent } from '../../dispatch/index.ts';
import type { SessionService } from '../../runtime/index.ts';
import { InMemorySessionService, sessionService } from '../../runtime/index.ts';
import type { Shape } from '../../session/index.ts';
import {
  amount,
  anything,
  bag,
  checkOptions,
  either,
  flag,
  guarded,
  listOf,
  number,
  object,
  off,
} from '../../session/index.ts';
import { fromAgent } from '../adk/index.ts';
import { assertGated } from './gated.ts';
import { parametersOf } from './schema.ts';
import { AdkExecutor } from './session.ts';
import type { AdkAgent, AdkModule, AdkSessionService, AdkTool } from './types.ts';

export interface FromGoogleAdkOptions {
  /** `await import('@google/adk')`, 2.x. */
  adk: AdkModule;
  /** An LlmAgent, or a sequential, parallel or loop agent. */
  agent: AdkAgent;
  /** The app's plugins. Their beforeTool and onToolError see a call once the host has let it run. */
  plugins?: readonly object[];
  /** Where the package keeps its own sessions. Default: in memory, made anew from the log after a restart. */
  sessionService?: AdkSessionService;
  artifactService?: object;
  memoryService?: object;
  credentialService?: object;
  /** What a policy may know of a tool. Annotations are the app's word: nothing is guessed from names. */
  annotations?: Readonly<Record<string, ToolAnnotations>>;
  /** Model calls of one run. Default: the package's own, 500. */
  maxLlmCalls?: number;
  /** Ask the model for pieces. Default true. */
  streaming?: boolean;
  /** Fails a turn in which the agent is silent. Default 10 minutes; `false`: waits for ever. */
  watchdog?: WatchdogOptions | false;
  /** Used where the host's context has none. Default: in memory. */
  store?: SessionService;
  /** @deprecated Write `store`. */
  sessions?: SessionService;
  constraints?: AgentConstraints;
}

// What is no module and what is no agent is told about by what they are asked.
const shape: Shape<FromGoogleAdkOptions> = {
  adk: anything,
  agent: anything,
  plugins: listOf(object),
  sessionService: object,
  artifactService: object,
  memoryService: object,
  credentialService: object,
  annotations: bag,
  maxLlmCalls: number,
  streaming: flag,
  watchdog: either(off, object),
  store: sessionService,
  sessions: sessionService,
  constraints: bag,
};

/**
 * An agent of the real `@google/adk`, as something that a host can open. Every call of a tool, at any depth, passes
 * the gate; what a tool asks a person for is asked by the host.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_AGENT_NAME`, `UNIMPLEMENTED / E_UNSUPPORTED`
 * @example
 * ```ts
 * import * as adk from '@google/adk';
 * import { createHost, rulePolicy } from 'coxswain';
 * import { fromGoogleAdk } from 'coxswain/google-adk';
 *
 * const agent = new adk.LlmAgent({ name: 'clerk', model: 'gemini-2.5-flash', instruction: 'Pay orders back.' });
 * const policy = rulePolicy([{ tool: 'refund', outcome: 'ask' }]);
 * const host = createHost({ app: 'shop', agents: [fromGoogleAdk({ adk, agent })], policy });
 * ```
 */
export function fromGoogleAdk(options: FromGoogleAdkOptions): AgentSource {
  checkOptions<FromGoogleAdkOptions>(options, 'fromGoogleAdk: options', shape);
  if (options.watchdog !== false && options.watchdog !== undefined)
    checkOptions<WatchdogOptions>(options.watchdog, 'fromGoogleAdk: options.watchdog', {
      silenceMs: amount,
      idleRuns: amount,
      unsignalledRuns: amount,
    });
  const { adk, agent, plugins = [], annotations = {} } = options;
  assertRunnable(adk, agent);
  const agentOf = (executor: Parameters<typeof dispatchAgent>[0]['executor']) =>
    dispatchAgent({
      name: agent.name,
      description: agent.description ?? '',
      executor,
      ...(options.watchdog === undefined ? {} : { watchdog: options.watchdog }),
    });
  const given = {
    adk,
    agent,
    plugins,
    sessionService: options.sessionService ?? new adk.InMemorySessionService(),
    services: {
      artifactService: options.artifactService,
      memoryService: options.memoryService,
      credentialService: options.credentialService,
    },
    maxLlmCalls: options.maxLlmCalls,
    streaming: options.streaming ?? true,
    annotations: (tool: AdkTool) => annotations[tool.name],
    lastTold: new Map(),
  };
  const shown = {
    executor: 'google-adk',
    store: storeGiven(options, 'fromGoogleAdk: options') ?? new InMemorySessionService(),
    ...(options.constraints ? { constraints: options.constraints } : {}),
    describe: (own: AgentDescriptor) => ({ ...own, ...describe(adk, agent) }),
  };
  const described = fromAgent(
    agentOf(() => {}),
    shown,
  );
  return {
    ...described,
    async open(ref, context) {
      let executor: AdkExecutor | undefined;
      const source = fromAgent(
        agentOf((ctx, helpers) => executor?.answer(ctx, helpers)),
        shown,
      );
      const session = await source.open(ref, context);
      const { live } = session as { live?: { fold: { state: State; shared: State } } };
      executor = new AdkExecutor(given, {
        appName: context.app,
        userId: context.userId ?? 'local',
        sessionId: session.id,
        state: () => structuredClone({ ...live?.fold.shared, ...live?.fold.state }),
      });
      return session;
    },
  };
}

type State = Readonly<Record<string, unknown>>;

type Described = Pick<AgentDescriptor, 'subAgents' | 'ownTools'> & { composition?: CompositionConfig };

function describe(adk: AdkModule, agent: AdkAgent): Described {
  const composition = compositionOf(adk, agent);
  const { tools = [] } = agent as { tools?: readonly unknown[] };
  return {
    subAgents: agent.subAgents.map((child) => ({
      name: child.name,
      description: child.description ?? '',
      executor: 'google-adk',
      capabilities: [],
      requiredTools: [],
      ...describe(adk, child),
    })),
    // What a toolset holds is known when it is asked.
    ownTools: tools.flatMap((tool) => (adk.isBaseTool(tool) ? [descriptorOf(tool as AdkTool)] : [])),
    ...(composition ? { composition } : {}),
  };
}

function descriptorOf(tool: AdkTool): ToolDescriptor {
  const { name, description, isLongRunning } = tool;
  return {
    name,
    description,
    inputSchema: parametersOf(tool),
    ...(isLongRunning ? { annotations: { longRunning: true } } : {}),
  };
}

function compositionOf(adk: AdkModule, agent: AdkAgent): CompositionConfig | undefined {
  const children = agent.subAgents.map(({ name }) => name);
  if (adk.isSequentialAgent(agent)) return { pattern: 'sequential', children };
  if (adk.isParallelAgent(agent)) return { pattern: 'parallel', children };
  if (adk.isLoopAgent(agent)) {
    const { maxIterations } = agent as { maxIterations?: number };
    const cap = maxIterations !== undefined && Number.isFinite(maxIterations) ? { maxIterations } : {};
    return { pattern: 'loop', children, ...cap };
  }
  return children.length > 0 ? { pattern: 'transfer', children } : undefined;
}

/** What would run past the gate is refused. */
function assertRunnable(adk: AdkModule, agent: AdkAgent): void {
  if (
    !guarded(
      'fromGoogleAdk: options.adk',
      () => typeof adk?.Runner === 'function' && typeof adk.isBaseAgent === 'function',
    )
  ) {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', "adk must be the module: await import('@google/adk')");
  }
  assertGated(adk, agent, 'the root');
}
