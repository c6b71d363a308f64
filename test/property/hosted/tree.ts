import type { Agent, LlmAgent, LlmAgentOptions } from '../../../src/runtime/index.ts';
import { agentTool, CustomAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../../../src/runtime/index.ts';
import { below, randomOf } from '../replay/random.ts';

export type MakeLlm = (name: string, options?: Partial<LlmAgentOptions>) => LlmAgent;

/** A tree of all kinds of agents; the host's tools, sub-agents among them, are known to each of its LLM agents. */
export function drawTree(seed: number, root: string, llm: MakeLlm): Agent {
  const random = randomOf(seed);
  let made = 0;
  const draw = (name: string, depth: number): Agent => {
    const roll = random();
    const child = () => draw(`${root}_${made++}`, depth - 1);
    if (depth === 0 || roll < 0.15) return llm(name);
    if (roll < 0.3) return llm(name, { tools: [agentTool(child())] });
    if (roll < 0.4) return llm(name, { subAgents: [child()] });
    const subAgents = Array.from({ length: 1 + below(random, 2) }, child);
    if (roll < 0.55) return new SequentialAgent({ name, subAgents });
    if (roll < 0.7) return new ParallelAgent({ name, subAgents });
    if (roll < 0.85) return new LoopAgent({ name, subAgents, maxIterations: 2 });
    return new CustomAgent({
      name,
      subAgents,
      async run(context) {
        for (const agent of subAgents) await context.run(agent);
      },
    });
  };
  return draw(root, 3);
}
