import type {
  AuthInfo,
  ClientCapabilities,
  McpServer,
  McpServerFactory,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server';
import { warnWith } from '../../../base/index.ts';
import type { Principal } from '../../../contracts/index.ts';
import { CoxswainError, PACKAGE_VERSION } from '../../../contracts/index.ts';
import { ensureValidator, MAX_TIMER_MS } from '../../../gate/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { AgentHost } from '../../index.ts';
import { Cards } from '../card/index.ts';
import type { Call } from '../tasks/index.ts';
import { Tasks } from '../tasks/index.ts';
import type { AgentTool, Answers, Asking, CallFrame, McpOptions, ParkedCall } from '../turn/index.ts';
import {
  AgentCall,
  bad,
  byParking,
  byPushing,
  checkNumbers,
  DEFAULT_ANSWER_MS,
  HeldSessions,
  loadServerSdk,
  mcpInput,
  mcpToolOf,
  modesOf,
  outputSchema,
  parkedCalls,
  showsCards,
  TurnPlaces,
  UNWATCHED,
} from '../turn/index.ts';
import { Strangers } from './strangers.ts';

/** Where {@link principalOf} finds who was authenticated. */
const PRINCIPAL = 'coxswain/principal';

export function authInfoOf(principal: Principal) {
  return { token: '', clientId: nameOfPrincipal(principal), scopes: [], extra: { [PRINCIPAL]: principal } };
}

/** The same call, by whoever was authenticated just now: an answer to its question comes by a request of its own. */
export function renewAuthInfo(known: AuthInfo | undefined, given: AuthInfo | undefined): void {
  const principal = given?.extra?.[PRINCIPAL];
  if (known?.extra && principal !== undefined) known.extra[PRINCIPAL] = principal;
}

/** Whose parked calls are: somebody else's state is refused. */
function nameOfCaller(context: ServerContext): string {
  const principal = principalOf(context);
  return principal ? nameOfPrincipal(principal) : '';
}

export function principalOf(context: ServerContext): Principal | undefined {
  return context.http?.authInfo?.extra?.[PRINCIPAL] as Principal | undefined;
}

/**
 * One factory for every version and transport: a new server for each connection, or each request of the 2026
 * version.
 * @throws CoxswainError `NOT_FOUND / E_AGENT_UNKNOWN`, `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA | E_BAD_INPUT`
 */
export async function createMcpFactory(host: AgentHost, options: McpOptions = {}): Promise<McpServerFactory> {
  mcpInput.factory(host, options);
  checkNumbers(options, ['answerMs', 'progressMs']);
  if (options.answerMs === Number.POSITIVE_INFINITY)
    throw bad('answerMs is without end; what a caller holds must expire');
  const tools = toolsOf(host, options);
  const sdk = await loadServerSdk();
  await ensureValidator();
  const answerMs = options.answerMs ?? DEFAULT_ANSWER_MS;
  const codec = await parkedCalls(options.stateKey, answerMs, nameOfCaller);
  const warn = warnWith(options.warn);
  const strangers = new Strangers(warn);
  const heldMs = Math.min(answerMs, MAX_TIMER_MS);
  const held = new HeldSessions(heldMs, warn);
  const places = new TurnPlaces();
  const capabilities = (context: ServerContext) => capabilitiesOf(context, sdk.CLIENT_CAPABILITIES_META_KEY);
  const run =
    (tool: AgentTool, args: Record<string, unknown>, asking: Asking, answers: Answers | undefined): Call =>
    (context, watcher) => {
      const frame: CallFrame = { host, options, asking, held, places, warn, watcher };
      return new AgentCall(frame, tool, context, () => principalOf(context)).run(args, answers);
    };
  const modes = (found: ClientCapabilities | undefined) => modesOf(found, options.cards === true);
  const parking = (context: ServerContext) => byParking(codec, sdk, modes(capabilities(context)));
  const tasks =
    options.tasks === false
      ? undefined
      : new Tasks(
          {
            ...{ host, options, sdk, places, warn, principalOf, capabilitiesOf: capabilities },
            resume: (tool, context, turn) => run(tool, {}, parking(context), turn),
          },
          tools,
          options.tasks ?? {},
        );
  const isShown = (server: McpServer, context: ServerContext) =>
    showsCards(capabilities(context) ?? server.server.getClientCapabilities());
  const cards = options.cards ? new Cards({ host, sdk, tools, principalOf, isShown }) : undefined;
  return ({ era }) => {
    const isModern = era === 'modern';
    const server = new sdk.McpServer(
      { name: options.name ?? 'coxswain', version: options.version ?? PACKAGE_VERSION },
      {
        // With tools of its own the SDK would set its handler before anybody can be around it.
        ...(isModern && tasks && tools.length > 0 ? {} : { capabilities: { tools: { listChanged: false } } }),
        requestState: { verify: codec.verify },
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      },
    );
    server.server.onerror = ({ message }) => strangers.note(message);
    server.server.registerCapabilities({ tools: { listChanged: false } });
    if (isModern) tasks?.serve(server);
    const served = cards?.serve(server);
    for (const tool of tools) {
      register(server, tool, async (args, context) => {
        if (!isModern) {
          const pushing = byPushing(sdk, modes(server.server.getClientCapabilities()), heldMs);
          return run(tool, args, pushing, undefined)(context, UNWATCHED);
        }
        const call = run(tool, args, parking(context), answersOf(context, sdk));
        return tasks ? tasks.call(tool, context, call) : call(context, UNWATCHED);
      });
    }
    options.configure?.(server, codec as RequestStateCodec);
    served?.finish();
    return server;
  };
}

type Handler = (args: Record<string, unknown>, context: ServerContext) => ReturnType<AgentCall['run']>;

function register(server: McpServer, tool: AgentTool, handler: Handler): void {
  const { name, agent, input } = tool;
  const config = {
    description: agent.description,
    inputSchema: input,
    ...(agent.displayName === undefined ? {} : { title: agent.displayName }),
    ...(tool.outputSchema ? { outputSchema: outputSchema(tool.outputSchema) } : {}),
  };
  server.registerTool(name, config, (args, context) => handler(args as Record<string, unknown>, context));
}

function toolsOf(host: AgentHost, options: McpOptions): AgentTool[] {
  const known = new Map(host.agents.map((agent) => [agent.name, agent]));
  const names = options.agents ?? [...known.keys()];
  const tools = new Map<string, AgentTool>();
  for (const name of names) {
    const agent = known.get(name);
    if (!agent) {
      const list = [...known.keys()].join(', ');
      throw new CoxswainError('NOT_FOUND', 'E_AGENT_UNKNOWN', `the host has no agent ${name}; it has: ${list}`);
    }
    const tool = mcpToolOf(agent, options.conversations ?? true);
    if (tools.has(tool.name)) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_TOOL', `two agents are named ${tool.name} in MCP`);
    }
    tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function capabilitiesOf(context: ServerContext, key: string): ClientCapabilities | undefined {
  return (context.mcpReq.envelope as Record<string, ClientCapabilities> | undefined)?.[key];
}

function answersOf(
  context: ServerContext,
  { inputResponse }: Awaited<ReturnType<typeof loadServerSdk>>,
): Answers | undefined {
  const call = context.mcpReq.requestState<ParkedCall>();
  if (call === undefined) return undefined;
  return {
    call,
    replyTo(requestId) {
      const view = inputResponse(context.mcpReq.inputResponses, requestId);
      return view.kind === 'elicit' ? { action: view.action, content: view.content } : undefined;
    },
  };
}
