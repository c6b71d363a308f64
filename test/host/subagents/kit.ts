import type { AnyTool } from '../../../src/contracts/index.ts';
import type { SubagentOptions } from '../../../src/host/index.ts';
import { subagentTool } from '../../../src/host/index.ts';
import type { HostOptions, SessionService } from '../../../src/index.ts';
import { fromAgent, LlmAgent } from '../../../src/index.ts';
import type { LlmAgentOptions } from '../../../src/runtime/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import type { Bench } from '../kit.ts';
import { hostOf } from '../kit.ts';

export interface Team {
  boss: readonly Script[];
  expert: readonly Script[];
  /** Tools that the host runs, the sub-agent excluded. */
  tools?: readonly AnyTool[];
  expertOptions?: Partial<LlmAgentOptions>;
  toolOptions?: SubagentOptions;
  host?: Partial<Omit<HostOptions, 'agents' | 'agentOptions' | 'store' | 'sessions' | 'tools'>>;
  store?: SessionService;
}

/** A host whose agent `boss` calls `expert`, an agent with a session of its own. */
export function team(options: Team): Bench & { expert: ScriptedModel; boss: ScriptedModel } {
  const boss = new ScriptedModel([...options.boss]);
  const expert = new ScriptedModel([...options.expert]);
  const agent = new LlmAgent({ name: 'expert', description: 'knows', model: expert, ...options.expertOptions });
  const bench = hostOf(new LlmAgent({ name: 'boss', model: boss }), {
    tools: [...(options.tools ?? []), subagentTool(fromAgent(agent), options.toolOptions)],
    ...(options.store ? { store: options.store } : {}),
    ...options.host,
  });
  return { ...bench, boss, expert };
}

export const askExpert = { calls: [['expert', { request: 'go' }]] } satisfies Script;
