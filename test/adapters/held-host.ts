import type { AgentHost } from '../../src/index.ts';
import { agentTool, createHost, defineTool, fromAgent, LlmAgent, rulePolicy, subagentTool } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

/** Each way in which a call of `slow` comes about: the name of an agent that makes it. */
export const shapes = ['hosts', 'own', 'toolset', 'agent-tool', 'subagent', 'sibling'] as const;

/** A model for each session that is opened, as they run beside one another. */
const saying = (...answers: Script[]) => new Forever(answers);

/** Says the same again in each turn: which answer is due tell the contents that it is given. */
class Forever extends ScriptedModel {
  readonly #answers: readonly Script[];
  constructor(answers: readonly Script[]) {
    super([]);
    this.#answers = answers;
  }
  override generate(...[request, ...rest]: Parameters<ScriptedModel['generate']>) {
    const asked = request.contents.some(({ parts }) => parts.some(({ type }) => type === 'function_response')) ? 1 : 0;
    return new ScriptedModel([this.#answers[asked] ?? 'done']).generate(request, ...rest);
  }
}

/** A host of agents that each call `slow` in another way; it runs until `work` for its session is done. */
export function shapesHost(
  sessions: SessionService,
  work: (sessionId: string) => Promise<void>,
  lookMs: number,
): AgentHost {
  const inputSchema = { type: 'object' } as const;
  const slow = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    inputSchema,
    execute: async (_, { sessionId }) => {
      await work(sessionId);
      return 'done';
    },
  });
  const pay = defineTool({ name: 'pay', description: 'Pays.', inputSchema, execute: () => 'paid' });
  const next = defineTool({
    name: 'next',
    description: 'Comes after all others.',
    inputSchema,
    annotations: { exclusive: true },
    execute: () => 'done',
  });
  const calling = (...names: string[]) => saying({ calls: names.map((name) => [name, {}]) }, 'done');
  const below = new LlmAgent({ name: 'below', description: 'Knows.', model: calling('slow') });
  const within = new LlmAgent({ name: 'within', description: 'Knows.', model: calling('slow'), tools: [slow] });
  const asking = (name: string) => saying({ calls: [[name, { request: 'go' }]] }, 'done');
  return createHost({
    app: 'shop',
    userId: 'ann',
    store: sessions,
    policy: rulePolicy([
      { tool: 'pay', outcome: 'ask' },
      { tool: '*', outcome: 'allow' },
    ]),
    tools: [slow, pay, next, subagentTool(fromAgent(below))],
    agents: [
      new LlmAgent({ name: 'hosts', model: calling('slow') }),
      new LlmAgent({ name: 'own', model: calling('slow'), tools: [slow] }),
      new LlmAgent({ name: 'toolset', model: calling('slow'), toolsets: [{ name: 'set', tools: () => [slow] }] }),
      new LlmAgent({ name: 'agent-tool', model: asking('within'), tools: [agentTool(within)] }),
      new LlmAgent({ name: 'subagent', model: asking('below') }),
      new LlmAgent({ name: 'sibling', model: calling('slow', 'pay') }),
      new LlmAgent({ name: 'queue', model: calling('slow', 'next') }),
    ],
    followPollMs: lookMs,
    approvalPollMs: lookMs,
  });
}
