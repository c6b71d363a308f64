import type {
  AgentDescriptor,
  AgentSession,
  AgentSource,
  AnyTool,
  DepsFrom,
  HostContext,
  JsonSchema,
  SessionFactory,
  SessionRef,
  ToolAnnotations,
  ToolCallContext,
  ToolContract,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  amount,
  checkIs,
  checkOptions,
  either,
  flag,
  fn,
  guarded,
  having,
  name,
  object,
  text,
} from '../../session/index.ts';
import { source } from '../terms/index.ts';

/** Marks a tool that is an agent with a session of its own. */
const subagent: unique symbol = Symbol.for('coxswain.subagent') as never;

export interface SubagentOptions {
  /** Default: the agent's name. */
  name?: string;
  /** Default: the agent's description. */
  description?: string;
  /** Default: the agent's input schema, or `{request: string}`. */
  inputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  /** Ask before it is called at all; what it does is gated anyway. */
  needsApproval?: AnyTool['needsApproval'];
  /** Agents that may stand below one another, this one included. Default 8. */
  maxDepth?: number;
}

/** What a host needs to run an agent as a tool. */
export interface Subagent {
  readonly descriptor: AgentDescriptor;
  readonly maxDepth: number;
  /** Its sessions can be listed: their logs are read also where it waits in memory, and cannot resume. */
  readonly keepsLogs: boolean;
  /** A session that is found again after a restart, if the executor keeps sessions. */
  open(ref: SessionRef, context: HostContext): Promise<AgentSession>;
}

// biome-ignore lint/suspicious/noExplicitAny: of a sub-agent in general nothing is known
export interface SubagentTool<Deps = any> extends ToolContract<any, ToolCallContext<Deps>> {
  readonly [subagent]: Subagent;
}

const requestSchema: JsonSchema = {
  type: 'object',
  properties: { request: { type: 'string', description: 'What the agent is asked.' } },
  required: ['request'],
};

const described: Check = {
  needs: 'a descriptor, with a name',
  fits: (value) => object.fits(value) && name.fits((value as AgentDescriptor).name),
};
const shape: Shape<SubagentOptions> = {
  name,
  description: text,
  inputSchema: object,
  annotations: object,
  needsApproval: either(flag, fn),
  maxDepth: amount,
};

/** A sub-agent waits for somebody, and its call with it. */
export class Suspended extends Error {}

export const DEFAULT_SUBAGENT_DEPTH = 8;

/**
 * An agent as a tool of the agents of a host: give it to `createHost({tools})`. It runs in a session of its own under
 * the same host: its tools pass the same policy with the whole path of agents, its questions are the caller's, and
 * its call stays open until they are answered, also in another process.
 *
 * An agent is a source (`fromAgent(…)`), or a descriptor with the factory that runs it; the factory's creator is told
 * which session to open in `context.session`.
 * @example
 * ```ts
 * import { createHost, fromAgent, LlmAgent, subagentTool } from 'coxswain';
 *
 * const expert = new LlmAgent({ name: 'expert', description: 'Knows the law.', model: 'gpt-5' });
 * const clerk = new LlmAgent({ name: 'clerk', model: 'gpt-5' });
 * createHost({ app: 'shop', agents: [clerk], tools: [subagentTool(fromAgent(expert))] });
 * ```
 */
export function subagentTool<const A extends AgentSource>(
  source: A,
  options?: SubagentOptions,
  // biome-ignore lint/suspicious/noExplicitAny: what an agent is asked has the shape of its schema
): ToolContract<any, ToolCallContext<DepsFrom<A>>>;
export function subagentTool(descriptor: AgentDescriptor, factory: SessionFactory, options?: SubagentOptions): AnyTool;
export function subagentTool(
  agent: AgentSource | AgentDescriptor,
  second: SessionFactory | SubagentOptions = {},
  third: SubagentOptions = {},
): SubagentTool {
  checkIs(agent, 'subagentTool: agent', object);
  const isSource = guarded('subagentTool: agent', () => 'descriptor' in agent);
  const descriptor = isSource ? (agent as AgentSource).descriptor : (agent as AgentDescriptor);
  if (isSource) checkIs(agent, 'subagentTool: agent', source);
  else checkIs(second, 'subagentTool: factory', having('create'));
  checkIs(descriptor, 'subagentTool: descriptor', described);
  const options = isSource ? (second as SubagentOptions) : third;
  checkOptions<SubagentOptions>(options, 'subagentTool: options', shape);
  const { annotations, needsApproval } = options;
  return {
    name: options.name ?? descriptor.name,
    description: options.description ?? descriptor.description,
    inputSchema: options.inputSchema ?? descriptor.inputSchema ?? requestSchema,
    kind: 'other',
    ...(annotations ? { annotations } : {}),
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: () => Promise.reject(onlyUnderHost(descriptor.name)),
    [subagent]: {
      descriptor,
      maxDepth: options.maxDepth ?? descriptor.composition?.maxDepth ?? DEFAULT_SUBAGENT_DEPTH,
      keepsLogs: isSource && (agent as AgentSource).sessions !== undefined,
      open: isSource
        ? (ref, context) => (agent as AgentSource).open(ref, context)
        : (ref, context) => (second as SessionFactory).create(descriptor, { ...context, session: ref }),
    },
  };
}

/** The agent that a tool is, if it is one. */
export function subagentOf(tool: AnyTool | undefined): Subagent | undefined {
  return (tool as Partial<SubagentTool> | undefined)?.[subagent];
}

function onlyUnderHost(name: string): CoxswainError {
  return new CoxswainError(
    'UNIMPLEMENTED',
    'E_UNSUPPORTED',
    `sub-agent ${name} runs under a host only: give its tool to createHost({tools}); inside an agent use agentTool`,
  );
}
