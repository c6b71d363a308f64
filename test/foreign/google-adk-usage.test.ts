import { expect, test } from 'vitest';
import { googleUsage } from '../../src/adapters/google-adk/content.ts';

test('output counts what was thought, as with every provider: a budget and a price see all of it', () => {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2 };
  expect(googleUsage({ usageMetadata } as never)).toEqual({ inputTokens: 10, outputTokens: 7, thoughtTokens: 2 });
  expect(googleUsage({ usageMetadata: { candidatesTokenCount: 5 } } as never)).toEqual({ outputTokens: 5 });
  expect(googleUsage({} as never)).toBeUndefined();
});
