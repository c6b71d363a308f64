import type { FromAgentOptions } from '../adapters/adk/index.ts';
import { fromAgent } from '../adapters/adk/index.ts';
import type {
  AgentSource,
  AnyTool,
  DepsFrom,
  DepsOfTools,
  HostJournal,
  NeedsDeps,
  OutputFrom,
  PolicyEvaluator,
  Session,
} from '../contracts/index.ts';
import type { AgentHost, HostOptions, OpenOptions, ToolVerdicts } from '../host/index.ts';
import { createHost as createHostOfSources, policyFor } from '../host/index.ts';
import type { Agent, CredentialService, Model, SessionService } from '../runtime/index.ts';
import type { Check } from '../session/index.ts';
import { checkIs, checkShape, either, guarded, having, list, object, required } from '../session/index.ts';

type AgentOrSource = Agent | AgentSource;

/** The name that a host knows it by. */
type NameOf<A extends AgentOrSource> = A extends { readonly descriptor: { readonly name: infer Name } }
  ? Name
  : A extends { readonly name: infer Name }
    ? Name
    : never;

/** Of the agents of a host the one of that name. */
type Named<A extends AgentOrSource, Name> = A extends AgentOrSource ? (Name extends NameOf<A> ? A : never) : never;

/** A host that knows its agents' names, and what each of them answers with. */
export interface HostOf<A extends AgentOrSource> extends Omit<AgentHost, 'open'> {
  /**
   * A session of an agent, under this host's control.
   * @throws CoxswainError `NOT_FOUND / E_AGENT_UNKNOWN | E_SESSION_NOT_FOUND`
   */
  open<Name extends NameOf<A> & string>(
    agent: Name,
    options?: OpenOptions,
  ): Promise<Session<OutputFrom<Named<A, Name>>>>;
}

/** What a host over agents of the runtime takes. */
export interface EmbeddedHostOptions<
  L extends readonly AgentOrSource[] = readonly AgentOrSource[],
  T extends readonly AnyTool[] = readonly AnyTool[],
> extends Omit<HostOptions, 'agents' | 'tools' | 'policy' | 'store' | 'sessions' | 'credentials' | 'models'> {
  agents: L;
  /** Tools that the host runs. */
  tools?: T;
  /**
   * Default: readOnly tools run, the rest asks. `allowAll()` opts out. By the names of `tools`, what {@link policyFor} takes:
   * what is not named asks.
   */
  policy?: PolicyEvaluator | VerdictsOn<T>;
  /** For those that are agents of the runtime. */
  agentOptions?: FromAgentOptions;
  /**
   * The store. Default: memory, which ends with the process. Of agents that keep their sessions elsewhere, where the host
   * keeps its own notes.
   */
  store?: SessionService | { readonly journal: HostJournal };
  /** @deprecated Write `store`. */
  sessions?: SessionService | { readonly journal: HostJournal };
  credentials?: CredentialService;
  /** Finds models by name, for agents that name theirs and calls that name another: a `modelRegistry({…})`, or a function. */
  models?: ModelRegistry | ((name: string) => Model | undefined);
}

/** Absent where a tool's name is not known, or is that of the method that makes an evaluator of an object. */
type VerdictsOn<T extends readonly AnyTool[]> = 'evaluate' extends T[number]['name']
  ? never
  : ToolVerdicts<NoInfer<T>[number]>;

/** Finds models by name, as `modelRegistry` of the adapters does. */
interface ModelRegistry {
  models(name: string): Model | undefined;
}

/**
 * {@link createHostOfSources} that takes the runtime's agents as they are, and knows them by their names.
 * @example
 * ```ts
 * import { createHost, defineTool, LlmAgent, run } from 'coxswain';
 * import { openaiChatModel } from 'coxswain/models';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Pays an order back.',
 *   inputSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
 *   execute: ({ order }) => `order ${order} is paid back`,
 * });
 * const clerk = new LlmAgent({ name: 'clerk', model: openaiChatModel('gpt-5', { apiKey: 'sk-…' }) });
 * const host = createHost({
 *   app: 'shop',
 *   agents: [clerk],
 *   tools: [refund],
 *   policy: { refund: ({ order }) => (order < 100 ? 'allow' : 'ask') },
 *   onApproval: ({ name, args }) => {
 *     console.log(name, args);
 *     return 'approve';
 *   },
 * });
 * const { reason, text } = await run(await host.open('clerk'), 'Pay order 7 back.');
 * console.log(reason, text);
 * ```
 */
export function createHost<
  const L extends readonly AgentOrSource[],
  const T extends readonly AnyTool[] = readonly AnyTool[],
>(options: EmbeddedHostOptions<L, T> & NeedsDeps<DepsFrom<L[number]> & DepsOfTools<T[number]>>): HostOf<L[number]> {
  checkShape<Pick<EmbeddedHostOptions, 'agents' | 'agentOptions'>>(options, 'createHost: options', {
    agents: required(list),
    agentOptions: object,
  });
  const { agents, agentOptions, policy, ...rest }: EmbeddedHostOptions<L, T> = options;
  const sources = agents.map((agent, index): AgentSource => {
    checkIs(agent, `createHost: options.agents[${index}]`, agentOrSource);
    return 'descriptor' in agent ? agent : fromAgent(agent, agentOptions);
  });
  const judge = areVerdicts<VerdictsOn<T>>(policy) ? policyFor<readonly AnyTool[]>(rest.tools ?? [], policy) : policy;
  const given = judge === undefined ? rest : { ...rest, policy: judge };
  return createHostOfSources({ ...given, agents: sources }) as HostOf<L[number]>;
}

/** Of what is neither, the host says that it is no policy. */
function areVerdicts<V>(policy: PolicyEvaluator | V | undefined): policy is V {
  if (typeof policy !== 'object' || policy === null) return false;
  return guarded(
    'createHost: options.policy',
    () =>
      Object.getPrototypeOf(policy) === Object.prototype && !('evaluate' in policy) && Object.keys(policy).length > 0,
  );
}

const agentOrSource: Check = { needs: 'an agent or an agent source', fits: either(having('run'), having('open')).fits };
