import type { Content } from '../../../src/contracts/index.ts';
import { LlmAgent } from '../../../src/index.ts';

/** An agent that says much, whose third turn begins with a compaction. `requests`: what its model was asked. */
export function clerk(summarising: () => Promise<void>, requests: Content[][] = []): LlmAgent {
  return new LlmAgent({
    name: 'clerk',
    model: {
      name: 'm',
      async *generate({ contents, purpose }) {
        if (purpose === 'compaction') await summarising();
        else requests.push(structuredClone(contents) as Content[]);
        const text = purpose === 'compaction' ? 'They spoke.' : 'word '.repeat(800);
        const inputTokens = Math.round(JSON.stringify(contents).length / 4);
        yield {
          content: { role: 'model', parts: [{ type: 'text', text }] },
          finishReason: 'stop',
          usage: { inputTokens, outputTokens: 1000 },
        };
      },
    },
    compaction: { window: 2500, keep: 1 },
  });
}
