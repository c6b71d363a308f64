import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import { describeTool } from '../../src/gate/index.ts';
import type { AnyTool } from '../../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent, run } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const ran: unknown[] = [];
const pay = { name: 'pay', description: 'Pays.' };
const execute = (args: { amount: number; to: string; note?: string | undefined }) => {
  ran.push(args);
  return `paid ${args.amount.toFixed(2)} to ${args.to.toLowerCase()}`;
};
const isOurs = (to: string) => !to.endsWith('@evil.example');
const why = 'not one of ours';

const valibot = v.object({
  amount: v.number(),
  to: v.pipe(v.string(), v.check(isOurs, why)),
  note: v.optional(v.string()),
});
const arktype = type({
  amount: 'number',
  to: type('string').narrow((to, context) => isOurs(to) || context.reject(why)),
  'note?': 'string',
});

/** The same tool in the words of each library, with a rule that no JSON Schema can say. */
const tools: [library: string, tool: AnyTool][] = [
  [
    'zod 4',
    defineTool({
      ...pay,
      inputSchema: z.object({ amount: z.number(), to: z.string().refine(isOurs, why), note: z.string().optional() }),
      execute,
    }),
  ],
  [
    'zod 3',
    defineTool({
      ...pay,
      inputSchema: z3.object({
        amount: z3.number(),
        to: z3.string().refine(isOurs, why),
        note: z3.string().optional(),
      }),
      execute,
    }),
  ],
  ['valibot', defineTool({ ...pay, inputSchema: toStandardJsonSchema(valibot), execute })],
  ['arktype', defineTool({ ...pay, inputSchema: arktype, execute })],
];

async function called(tool: AnyTool, args: Record<string, unknown>) {
  ran.length = 0;
  const model = new ScriptedModel([{ calls: [['pay', args]] }, 'done']);
  const host = createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'clerk', model })],
    tools: [tool],
    policy: allowAll(),
  });
  try {
    const session = await host.open('clerk');
    const results: string[] = [];
    await run(session, 'go', {
      onEvent: (event) => {
        if (event.type !== 'tool_response') return;
        results.push(event.errorType ?? event.content.map((part) => ('text' in part ? part.text : '')).join(''));
      },
    });
    return { results, ran: [...ran] };
  } finally {
    await host.close();
  }
}

describe.each(tools)('REV-F1 REV-F2 REV-F3 a tool whose schema is of %s', (_, tool) => {
  test('is described by its JSON Schema', () => {
    expect(JSON.parse(JSON.stringify(describeTool(tool)))).toMatchObject({
      name: 'pay',
      inputSchema: {
        type: 'object',
        properties: { amount: { type: 'number' }, to: { type: 'string' }, note: { type: 'string' } },
        required: ['amount', 'to'],
      },
    });
  });

  test('runs with what its schema takes', async () => {
    const args = { amount: 2, to: 'Ann@shop.example', note: 'n' };
    expect(await called(tool, args)).toMatchObject({ ran: [args], results: ['paid 2.00 to ann@shop.example'] });
  });

  test.each([
    ['a member of another type', { amount: 'much', to: 'ann@shop.example' }],
    ['a member less', { amount: 1 }],
    ['what its own rule refuses', { amount: 1, to: 'eve@evil.example' }],
  ])('does not run with %s', async (__, args) => {
    const { ran: runs, results } = await called(tool, args);
    expect(runs).toEqual([]);
    expect(results).toEqual(['invalid_args']);
  });
});

test('REV-F2 a schema that says no JSON Schema is refused where the tool is given, with what to do', () => {
  const tool = defineTool({ ...pay, inputSchema: valibot, execute });
  const host = () => createHost({ app: 'shop', agents: [], tools: [tool] });
  expect(host).toThrow(
    'tool "pay": inputSchema: a schema of valibot says no JSON Schema by itself; give toStandardJsonSchema(schema), of @valibot/to-json-schema',
  );
  const standard = { version: 1, validate: (value: unknown) => ({ value }) } as const;
  const of = (vendor: string) => () => describeTool({ ...pay, inputSchema: { '~standard': { ...standard, vendor } } });
  expect(of('effect')).toThrow(/of effect .*toStandardJSONSchemaV1.*JSONSchema\.make/);
  expect(of('constructor')).toThrow('a schema of constructor says no JSON Schema by itself; pass JSON Schema instead');
});

test.each([
  ['valibot', toStandardJsonSchema(v.object({ at: v.date() }))],
  ['arktype', type({ at: 'Date' })],
  ['zod 4', z.object({ at: z.date() })],
])('F14 a type that JSON cannot hold is refused where the tool is given, of %s too', (_, inputSchema) => {
  const tool: AnyTool = { ...pay, inputSchema, execute: () => 1 };
  expect(() => describeTool(tool)).toThrow(expect.objectContaining({ code: 'E_SCHEMA' }));
});
