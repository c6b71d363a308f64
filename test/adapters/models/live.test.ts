import { describe, expect, test } from 'vitest';
import type { ModelRegistryOptions } from '../../../src/adapters/models/index.ts';
import { findModel } from '../../../src/adapters/models/index.ts';
import { ask, stored, tool, user } from './kit.ts';

interface Live {
  variable: string;
  model: string;
  options: (apiKey: string) => ModelRegistryOptions;
}

const providers: readonly Live[] = [
  {
    variable: 'GEMINI_API_KEY',
    model: process.env.GEMINI_MODEL ?? 'gemini-flash-latest',
    options: (apiKey) => ({ gemini: { apiKey } }),
  },
  {
    variable: 'ANTHROPIC_API_KEY',
    model: process.env.ANTHROPIC_MODEL ?? 'claude-haiku-4-5',
    options: (apiKey) => ({ anthropic: { apiKey } }),
  },
  {
    variable: 'OPENAI_API_KEY',
    model: process.env.OPENAI_MODEL ?? 'gpt-5-mini',
    options: (apiKey) => ({ openai: { apiKey } }),
  },
];

const tools = new Map([tool('capital_of', { country: { type: 'string' } })]);

describe.each(providers)('S0-82 live: $model', ({ variable, model, options }) => {
  const apiKey = process.env[variable] ?? '';

  test.skipIf(apiKey === '')(
    `calls a tool and reads its result (needs ${variable})`,
    { timeout: 120_000 },
    async () => {
      const asked = findModel(model, options(apiKey));
      const contents = [user('Use the tool to find the capital of France, then say only its name.')];
      const first = await ask(asked, { contents, tools });
      expect(first.last).toMatchObject({ finishReason: 'tool_calls' });
      const history = [...contents, ...stored(first.last, [{ capital: 'Paris' }])];
      const second = await ask(asked, { contents: history, tools });
      expect(second.text).toContain('Paris');
      expect(second.last.usage?.inputTokens).toBeGreaterThan(0);
    },
  );
});
