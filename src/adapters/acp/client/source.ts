import { resolve } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import type { AgentConstraints, AgentDescriptor, AgentSource } from '../../../contracts/index.ts';
import { CoxswainError, storeGiven } from '../../../contracts/index.ts';
import type { WatchdogOptions } from '../../../dispatch/index.ts';
import { dispatchAgent } from '../../../dispatch/index.ts';
import { MAX_TIMER_MS } from '../../../gate/index.ts';
import type { SessionService } from '../../../runtime/index.ts';
import { assertAgentName, InMemorySessionService, sessionService } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import {
  amount,
  anything,
  bag,
  checkOptions,
  either,
  fn,
  list,
  name,
  names,
  object,
  off,
  text,
} from '../../../session/index.ts';
import { fromAgent } from '../../adk/index.ts';
import type { AcpCommand, AcpPipe } from './child.ts';
import { AgentProcess } from './child.ts';
import type { AcpFiles } from './client.ts';
import { AcpAgentSession, SESSION_KEY } from './session.ts';

export interface FromAcpOptions extends Partial<AcpCommand> {
  /** An identifier. */
  name: string;
  description?: string;
  /** Instead of `command`: a way to an agent that runs elsewhere; called for each session. */
  connect?: (cwd: string) => AcpPipe;
  /** Folder that the agent works in. Default: this process' own. */
  cwd?: string;
  /** MCP servers that the agent is to use. It calls them itself and asks before, as with its own tools. */
  mcpServers?: readonly McpServer[];
  /** Id of one of its authentication methods, used where it wants one. */
  authMethod?: string;
  /** Mode that its sessions start in. */
  mode?: string;
  /** Files that it may reach through the host; each call passes the gate. Default: none. */
  files?: AcpFiles;
  /**
   * Kinds of calls that it may begin without asking; they are recorded, and a policy that denies them stops it. Any
   * other call that it begins unasked stops it. Default: read, search, think.
   */
  unasked?: readonly string[];
  /**
   * Members of a call's raw input that may differ between the question and the call, as they say nothing of what is
   * done: times, ids of processes. Default: what known agents add.
   */
  volatile?: readonly string[];
  /**
   * Milliseconds in which it may still ask about a call that it has announced as begun, as long as that has returned
   * nothing. Default 30,000.
   */
  askWithinMs?: number;
  /** Milliseconds that start and handshake may take. Default 30,000. */
  startTimeoutMs?: number;
  /** Milliseconds that it has to end a cancelled prompt before its process is ended. Default 5,000. */
  cancelTimeoutMs?: number;
  /** Fails a turn in which the agent is silent. Default 10 minutes; `false`: waits for ever. */
  watchdog?: WatchdogOptions | false;
  /** Used where the host's context has none. Default: in memory. */
  store?: SessionService;
  /** @deprecated Write `store`. */
  sessions?: SessionService;
  constraints?: AgentConstraints;
}

// A name and a command have errors of their own.
const shape: Shape<FromAcpOptions> = {
  name: anything,
  description: text,
  command: anything,
  args: names,
  folder: text,
  env: bag,
  onStderr: fn,
  connect: fn,
  cwd: name,
  mcpServers: list,
  authMethod: text,
  mode: text,
  files: object,
  unasked: names,
  volatile: names,
  askWithinMs: amount,
  startTimeoutMs: amount,
  cancelTimeoutMs: amount,
  watchdog: either(off, object),
  store: sessionService,
  sessions: sessionService,
  constraints: bag,
};

const UNASKED = ['read', 'search', 'think'];

/**
 * An agent that implements the Agent Client Protocol on stdio, as something that a host can open: one process a session,
 * what it says and does in the session's log, and every permission that it asks for decided by the gate.
 * @throws CoxswainError `INVALID_ARGUMENT / E_AGENT_NAME | E_BAD_INPUT`
 * @example
 * ```ts
 * import { createHost } from 'coxswain';
 * import { fromAcp } from 'coxswain/acp';
 *
 * const gemini = fromAcp({ name: 'gemini', command: 'gemini', args: ['--acp'], cwd: process.cwd() });
 * createHost({ app: 'desk', agents: [gemini] });
 * ```
 */
export function fromAcp(options: FromAcpOptions): AgentSource {
  checkOptions<FromAcpOptions>(options, 'fromAcp: options', shape);
  if (options.watchdog !== false && options.watchdog !== undefined)
    checkOptions<WatchdogOptions>(options.watchdog, 'fromAcp: options.watchdog', {
      silenceMs: amount,
      idleRuns: amount,
      unsignalledRuns: amount,
    });
  const { name, description } = options;
  assertAgentName(name);
  const connect = options.connect ?? starter(options);
  const store = storeGiven(options, 'fromAcp: options') ?? new InMemorySessionService();
  const agentOf = (executor: Parameters<typeof dispatchAgent>[0]['executor']) =>
    dispatchAgent({
      name,
      executor,
      ...(description === undefined ? {} : { description }),
      ...(options.watchdog === undefined ? {} : { watchdog: options.watchdog }),
    });
  const shown = {
    executor: 'acp',
    // It has tools of its own alone: what a host offers never reaches it.
    describe: (own: AgentDescriptor) => ({
      ...own,
      capabilities: own.capabilities.filter((name) => name !== 'host_tool_execution'),
    }),
    store,
    ...(options.constraints ? { constraints: options.constraints } : {}),
  };
  const described = fromAgent(
    agentOf(() => {}),
    shown,
  );
  return {
    ...described,
    async open(ref, context) {
      let session: AcpAgentSession | undefined;
      const agent = agentOf((ctx, helpers) => session?.answer(ctx, helpers));
      const source = fromAgent(agent, { ...shown, onClose: async () => session?.close() });
      const opened = await source.open(ref, context);
      const known = knownSession(opened);
      session = new AcpAgentSession({ ...sessionOptions(options), connect }, ref.fork ? undefined : known);
      return opened;
    },
  };
}

function starter({ name, command, args, folder, env, onStderr }: FromAcpOptions): (cwd: string) => AcpPipe {
  if (typeof command !== 'string' || command === '') {
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `agent ${name}: command must name a program`);
  }
  const given: AcpCommand = {
    command,
    ...(args ? { args } : {}),
    ...(folder === undefined ? {} : { folder }),
    ...(env ? { env } : {}),
    ...(onStderr ? { onStderr } : {}),
  };
  return (cwd) => new AgentProcess(name, given, cwd);
}

function sessionOptions(options: FromAcpOptions) {
  const { name, authMethod, mode } = options;
  return {
    name,
    cwd: resolve(options.cwd ?? '.'),
    mcpServers: options.mcpServers ?? [],
    authMethod,
    mode,
    files: options.files ?? {},
    unasked: new Set(options.unasked ?? UNASKED),
    volatile: new Set(options.volatile ?? []),
    askWithinMs: Math.min(options.askWithinMs ?? 30_000, MAX_TIMER_MS),
    startTimeoutMs: Math.min(options.startTimeoutMs ?? 30_000, MAX_TIMER_MS),
    cancelTimeoutMs: Math.min(options.cancelTimeoutMs ?? 5_000, MAX_TIMER_MS),
  };
}

/** What the log says of the agent's own session. */
function knownSession(session: { live?: { fold: { state: Record<string, unknown> } } } | object): string | undefined {
  const id = (session as { live?: { fold: { state: Record<string, unknown> } } }).live?.fold.state[SESSION_KEY];
  return typeof id === 'string' ? id : undefined;
}
