import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AnyTool } from '../../src/contracts/index.ts';
import { defineTool } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/host/index.ts';
import { bot, endOf, hostOf, ofType, say } from './kit.ts';

const pay = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({}),
  outputSchema: z.object({ id: z.string() }),
};
/** Written in a language without types. */
const untyped = (value: unknown, more: Partial<AnyTool> = {}): AnyTool => ({ ...pay, execute: () => value, ...more });

describe.each(['host', 'agent'] as const)('a result that its tool of the %s does not promise', (where) => {
  async function paid(made: AnyTool, sources = {}) {
    const tools = where === 'host' ? [[made], []] : [[], [made]];
    const agent = bot([{ calls: [['pay', {}]] }, 'done'], { tools: tools[1] ?? [] });
    const { host, warnings } = hostOf(agent, { tools: tools[0] ?? [], policy: allowAll(), ...sources });
    const session = await host.open('bot');
    const events = await say(session, 'go');
    return { response: ofType(events, 'tool_response')[0], reason: endOf(events).reason, warnings, session };
  }

  test('is an error that model, log and program are told of, with all that it was', async () => {
    const { response, reason, warnings, session } = await paid(untyped({ number: 7 }));
    expect(response).toMatchObject({ isError: true, errorType: 'invalid_output' });
    expect(JSON.stringify(response?.content)).toMatch(/The call has run.*id.*number.*7/);
    expect(reason).toBe('completed');
    expect(warnings).toEqual([expect.stringMatching(/^tool pay: its result does not fit its output schema: .*id/s)]);
    const stored = [];
    for await (const event of session.events()) if (event.type === 'tool_response') stored.push(event.errorType);
    expect(stored).toEqual(['invalid_output']);
  });

  test('is none where its handler asks for something first: what it returns then is not looked at', async () => {
    const asking = untyped(undefined, { execute: (_, context) => context.requestConfirmation({ hint: 'sure?' }) });
    const { response, reason, warnings } = await paid(asking);
    expect([response, reason, warnings]).toEqual([undefined, 'input_required', []]);
  });

  test('one that it does is as it was', async () => {
    const { response, warnings } = await paid(defineTool({ ...pay, execute: async () => ({ id: 'r1' }) }));
    expect(response).toMatchObject({ structuredContent: { id: 'r1' } });
    expect([response?.isError, warnings]).toEqual([undefined, []]);
  });

  test('what a handler throws stays what it threw, and the first word of a long-running one is no result', async () => {
    const fails = untyped(1, { execute: () => Promise.reject(new Error('no money')) });
    expect((await paid(fails)).response).toMatchObject({ errorType: 'failed' });
    const begins = untyped({ status: 'sent' }, { annotations: { longRunning: true } });
    expect((await paid(begins)).warnings).toEqual([]);
  });
});

test('what a foreign server promises of its results is its own affair', async () => {
  const provider = {
    name: 'mcp:shop',
    source: 'mcp:shop' as const,
    getToolsForAgent: () => [
      { ...pay, inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['id'] } },
    ],
    execute: async () => ({ number: 7 }),
  };
  const { host, warnings } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
    toolProviders: [provider],
    policy: allowAll(),
  });
  const [response] = ofType(await say(await host.open('bot'), 'go'), 'tool_response');
  expect([response?.structuredContent, response?.isError, warnings]).toEqual([{ number: 7 }, undefined, []]);
});
