import type { McpServer, McpToolset, McpToolsetOptions } from '../../src/adapters/tools/mcp.ts';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { AgentEvent, ContentPart, RequestAnswer } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

export interface Called {
  /** How often a person was asked. */
  asked: number;
  response: Extract<AgentEvent, { type: 'tool_response' }>;
  text: string;
}

/** A server's tools under a host whose person says yes, unless `answer` says otherwise. */
export function underGate(server: McpServer & McpToolsetOptions) {
  const warnings: string[] = [];
  const questions: string[] = [];
  const toolset: McpToolset = mcpToolset({ ...server, warn: (text) => warnings.push(text) });
  return {
    toolset,
    warnings,
    /** What the server has asked in the midst of its calls. */
    questions,
    /** One call of one tool, from a model's words to the result in the log. */
    async call(
      name: string,
      args: Record<string, unknown>,
      answer: RequestAnswer = { kind: 'approve' },
    ): Promise<Called> {
      let asked = 0;
      const model = new ScriptedModel([{ calls: [[name, args]] }, { text: 'done' }]);
      const host = createHost({
        app: 'interop',
        agents: [new LlmAgent({ name: 'agent', model })],
        toolProviders: [toolset],
        onElicitation: ({ message }) => {
          questions.push(message ?? '');
          return { kind: 'elicitation', action: 'accept', content: { name: 'Anna' } };
        },
        onApproval: async () => {
          asked += 1;
          return answer;
        },
      });
      try {
        const session = await host.open('agent');
        for await (const event of session.stream('go')) {
          if (event.type === 'tool_response') return { asked, response: event, text: textOf(event.content) };
        }
        throw new Error(`${name} has no response`);
      } finally {
        await host.close();
      }
    },
    [Symbol.asyncDispose]: () => toolset.close(),
  };
}

export type UnderGate = ReturnType<typeof underGate>;

function textOf(parts: readonly ContentPart[]): string {
  return parts
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : `[${part.type}]`))
    .join('\n');
}

/** @throws where it is not so */
export function hold(isTrue: boolean, words: string): void {
  if (!isTrue) throw new Error(words);
}

/** Names of the tools; what was said while they were listed is a failure unless it was expected. */
export async function listed({ toolset, warnings }: UnderGate, expected: RegExp = /^$/): Promise<string> {
  const tools = await toolset.getToolsForAgent('agent');
  const odd = warnings.filter((text) => !expected.test(text));
  hold(odd.length === 0, odd.join('; '));
  return `${tools.length} tools`;
}
