import { describe, expect, test } from 'vitest';
import type { LlmAgentOptions } from '../../src/runtime/index.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, key, llm, ownTool, tool } from './kit.ts';

const large = 'x'.repeat(5000);
const call = (name: string) => ({ calls: [[name] as const] });

/** One turn; the artifacts that the service has and those that the log tells of, by name and version. */
async function turn(name: string, options: Omit<LlmAgentOptions, 'name' | 'model'>) {
  const artifacts = new InMemoryArtifactService();
  const agent = llm('bot', new ScriptedModel([call(name), 'done']), options);
  const { say, log } = bench(agent, { services: { artifacts }, maxResultBytes: 1000 });
  expect(endOf(await say('go'))).toBe('completed');
  const saved: Record<string, number> = {};
  for (const file of await artifacts.list(key)) saved[file] = (await artifacts.load(key, file))?.version ?? 0;
  const events = await log();
  const withDelta = events.filter(({ actions }) => Object.keys(actions.artifactDelta).length > 0);
  return { saved, told: Object.assign({}, ...withDelta.map(({ actions }) => actions.artifactDelta)), withDelta };
}

const isResponse = { content: { parts: [{ type: 'function_response' }] } };

describe('T5 every artifact that the runtime saves stands in the log', () => {
  test('the result of a hook before a tool', async () => {
    const { saved, told, withDelta } = await turn('look', {
      tools: [tool('look', () => 'never')],
      beforeTool: () => ({ result: large }),
    });
    expect(Object.values(saved)).toEqual([1]);
    expect([told, withDelta]).toEqual([saved, [expect.objectContaining({})]]);
    expect(withDelta).toMatchObject([isResponse]);
  });

  test('the result of a hook for a tool that is not there', async () => {
    const { saved, told, withDelta } = await turn('gone', { onToolError: () => large });
    expect(Object.values(saved)).toEqual([1]);
    expect(told).toEqual(saved);
    expect(withDelta).toMatchObject([isResponse]);
  });

  test('the result of a tool, beside what the tool saved itself', async () => {
    const look = ownTool('look', async (_, { artifacts }) => {
      await artifacts?.save('mine', { mimeType: 'text/plain', data: 'AAAA' });
      return large;
    });
    const { saved, told, withDelta } = await turn('look', { tools: [look] });
    expect(Object.keys(saved)).toHaveLength(2);
    expect(told).toEqual(saved);
    expect(withDelta).toMatchObject([isResponse]);
  });

  test('what a hook saved itself, whatever it returned', async () => {
    const { saved, told } = await turn('look', {
      tools: [tool('look', () => 'seen')],
      beforeTool: async ({ artifacts }) => {
        await artifacts.save('note', { mimeType: 'text/plain', data: 'AAAA' });
      },
    });
    expect(saved).toEqual({ note: 1 });
    expect(told).toEqual(saved);
  });
});
