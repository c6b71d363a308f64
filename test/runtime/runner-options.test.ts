import { expect, test } from 'vitest';
import type { RunnerOptions } from '../../src/runtime/index.ts';
import { Runner } from '../../src/runtime/index.ts';
import { llm } from './kit.ts';

test('a runner is not made of an option that is no such thing: a policy that cannot be asked, a name that is none', () => {
  const made = (more: object) => () =>
    new Runner({ app: 'shop', agent: llm('bot', undefined), ...more } as RunnerOptions);
  for (const [more, named] of [
    [{ policy: {} }, 'policy'],
    [{ toolTimeoutMs: 'soon' }, 'toolTimeoutMs'],
    [{ polcy: { evaluate: () => undefined } }, 'polcy'],
  ] as const) {
    expect(made(more)).toThrow(
      expect.objectContaining({ status: 'INVALID_ARGUMENT', message: expect.stringContaining(named) }),
    );
  }
});
