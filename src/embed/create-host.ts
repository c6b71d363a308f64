import type { FromAgentOptions } from '../adapters/adk/index.ts';
import { fromAgent } from '../adapters/adk/index.ts';
import type { AgentSource } from '../contracts/index.ts';
import type { AgentHost, HostOptions } from '../host/index.ts';
import { createHost as createHostOfSources } from '../host/index.ts';
import type { Agent } from '../runtime/index.ts';
import type { Check } from '../session/index.ts';
import { checkIs, checkShape, either, having, list, object, required } from '../session/index.ts';

/** {@link createHostOfSources} that takes the runtime's agents as they are. */
export function createHost(options: Omit<HostOptions, 'agents'> & Given): AgentHost {
  checkShape<Given>(options, 'createHost: options', { agents: required(list), agentOptions: object });
  const { agents, agentOptions, ...rest } = options;
  const sources = agents.map((agent, index) => {
    checkIs(agent, `createHost: options.agents[${index}]`, agentOrSource);
    return 'descriptor' in agent ? agent : fromAgent(agent, agentOptions);
  });
  return createHostOfSources({ ...rest, agents: sources });
}

interface Given {
  agents: readonly (Agent | AgentSource)[];
  agentOptions?: FromAgentOptions;
}

const agentOrSource: Check = { needs: 'an agent or an agent source', fits: either(having('run'), having('open')).fits };
