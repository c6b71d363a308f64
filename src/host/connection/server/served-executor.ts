import type { AgentSource, HostContext, Principal } from '../../../contracts/index.ts';
import { CoxswainError, storeGiven } from '../../../contracts/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { Served } from './served.ts';
import { storeAnswers } from './store-answers.ts';

export interface ExecutorOptions {
  /** Name space of sessions and state. One safe segment. */
  app: string;
  agents: readonly AgentSource[];
  /** Store of the agents' sessions. */
  store?: unknown;
  /** @deprecated Write `store`. */
  sessions?: unknown;
  credentials?: unknown;
  models?: unknown;
}

/** Bare executors: the client is the host; policy, hooks and tools are with it. */
export function servedExecutor(options: ExecutorOptions): Served {
  const store = storeGiven(options, 'serveExecutor: executor');
  const sources = new Map(options.agents.map((source) => [source.descriptor.name, source]));
  const find = (agent: string | undefined): AgentSource => {
    const source = agent === undefined ? options.agents[0] : sources.get(agent);
    if (source) return source;
    const message = `there is no agent ${JSON.stringify(agent)}; there are: ${[...sources.keys()].join(', ')}`;
    throw new CoxswainError('NOT_FOUND', 'E_AGENT_UNKNOWN', message);
  };
  const context = (principal: Principal, userId = nameOfPrincipal(principal)): HostContext => ({
    app: options.app,
    userId,
    principal,
    ...(store === undefined ? {} : { store }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    ...(options.models === undefined ? {} : { models: options.models }),
  });
  return {
    kind: 'executor',
    agents: options.agents.map(({ descriptor }) => descriptor),
    ready: () => storeAnswers(() => find(undefined).sessions?.(context({ id: 'local' }))),
    async open(agent, { permissionMode: _, ...ref }, { userId, principal = { id: userId } }) {
      return find(agent).open(ref, context(principal, userId));
    },
    async join() {},
    sessions(principal, agent) {
      const provider = find(agent).sessions?.(context(principal));
      if (provider) return provider;
      throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'this agent keeps no sessions that can be listed');
    },
    input: (input) => input,
    // Tools run where the decisions are made, whatever a client says.
    options: (given) => ({ ...given, hostToolExecution: true }),
    update: (config) => config,
    answer: (answer) => answer,
    steer: (session, data) => session.steer(data),
    assertResults: async () => {},
    assertRemovable: async () => {},
  };
}
