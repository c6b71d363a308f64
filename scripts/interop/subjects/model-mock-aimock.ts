import {
  anthropicModel,
  geminiModel,
  openaiChatModel,
  openaiResponsesModel,
} from '../../../src/adapters/models/index.ts';
import { BOTH, PROMPTS, tryModel, WORDS } from '../model-trial.ts';
import { subject } from '../subject.ts';

/** What of it is used here. */
interface Mock {
  url: string;
  on(match: object, response: object): Mock;
  start(): Promise<unknown>;
  stop(): Promise<unknown>;
}

const all = ['words', 'thought', 'calls', 'cut', 'refused'] as const;
const calls = BOTH.map((where) => ({ name: 'look', arguments: JSON.stringify({ where }) }));

export default subject({
  name: 'aimock',
  role: 'model mock',
  packages: { '@copilotkit/aimock': '1.43.0' },
  async run(trial) {
    const { LLMock } = (await import(trial.file('@copilotkit/aimock/dist/index.js'))) as {
      LLMock: new (options: object) => Mock;
    };
    const mock = new LLMock({ port: 0, logLevel: 'silent' })
      .on({ userMessage: PROMPTS.words }, { content: WORDS })
      .on({ userMessage: PROMPTS.thought }, { content: 'thought', reasoning: 'a plan' })
      .on({ userMessage: PROMPTS.calls, hasToolResult: false }, { content: 'Looking.', toolCalls: calls })
      .on({ userMessage: PROMPTS.calls, hasToolResult: true }, { content: 'both seen' })
      .on({ userMessage: PROMPTS.cut }, { content: 'half an', finishReason: 'length' })
      .on({ userMessage: PROMPTS.refused }, { error: { message: 'no', type: 'authentication_error' }, status: 401 });
    await mock.start();
    try {
      const to = (more = '') => ({ apiKey: 'a-key', baseUrl: `${mock.url}${more}`, retry: { retries: 0 } });
      const models = {
        chat: openaiChatModel('gpt-5', to('/v1')),
        responses: openaiResponsesModel('gpt-5', to('/v1')),
        anthropic: anthropicModel('claude-x', to()),
        gemini: geminiModel('gemini-3-pro', to()),
      };
      for (const [name, model] of Object.entries(models)) {
        await tryModel(trial, name, model, { streamed: all, whole: all });
      }
    } finally {
      await mock.stop();
    }
  },
});
