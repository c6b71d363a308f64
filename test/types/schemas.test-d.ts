// Checked by `tsc -p tsconfig.json`, never run: what a schema says of the values that it takes and gives.
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import type { ArgsOf, InputOf, JsonSchema, OutputOf } from '../../src/contracts/index.ts';
import { defineTool } from '../../src/contracts/index.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(_?: T): void => {};
const about = { name: 'pay', description: 'Pays.' } as const;
type Payment = { amount: number; note?: string | undefined };

// The same arguments from each library.
defineTool({
  ...about,
  inputSchema: z.object({ amount: z.number(), note: z.string().optional() }),
  execute: (args) => isTrue<Equal<typeof args, Payment>>(),
});
defineTool({
  ...about,
  inputSchema: z3.object({ amount: z3.number(), note: z3.string().optional() }),
  execute: (args) => isTrue<Equal<typeof args, Payment>>(),
});
defineTool({
  ...about,
  inputSchema: toStandardJsonSchema(v.object({ amount: v.number(), note: v.optional(v.string()) })),
  execute: (args) => isTrue<Equal<typeof args, Payment>>(),
});
defineTool({
  ...about,
  inputSchema: type({ amount: 'number', 'note?': 'string' }),
  execute: (args) => isTrue<Equal<typeof args, { amount: number; note?: string }>>(),
});
defineTool({
  ...about,
  inputSchema: {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      note: { type: 'string' },
      currency: { enum: ['EUR', 'USD'] },
      times: { type: 'integer', default: 1 },
      to: { type: ['string', 'null'] },
      parts: { type: 'array', items: { type: 'object', properties: { sku: { const: 'a' } }, required: ['sku'] } },
      any: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      more: { $ref: '#/$defs/more' },
    },
    required: ['amount', 'to'],
  },
  needsApproval: ({ amount }) => amount > 10,
  execute(args) {
    isTrue<
      Equal<
        typeof args,
        {
          amount: number;
          times: number;
          to: string | null;
          note?: string;
          currency?: 'EUR' | 'USD';
          parts?: { sku: 'a' }[];
          any?: boolean | null;
          more?: unknown;
        }
      >
    >();
    // @ts-expect-error a typo
    return args.amuont;
  },
});

// What is not known is not made up.
isTrue<Equal<ArgsOf<JsonSchema>, Record<string, unknown>>>();
isTrue<Equal<ArgsOf<{ readonly type: 'object' }>, Record<string, unknown>>>();
isTrue<Equal<OutputOf<JsonSchema>, unknown>>();
isTrue<Equal<OutputOf<{ readonly type: 'array' }>, unknown[]>>();
isTrue<
  Equal<
    OutputOf<{ readonly type: 'object'; readonly additionalProperties: { readonly type: 'number' } }>,
    Record<string, number>
  >
>();

// A default is there for a handler, and may be left out by who gives a value.
type WithDefault = {
  readonly type: 'object';
  readonly properties: { readonly times: { readonly type: 'integer'; readonly default: 1 } };
};
isTrue<Equal<OutputOf<WithDefault>, { times: number }>>();
isTrue<Equal<InputOf<WithDefault>, { times?: number }>>();
const doubled = z.object({ n: z.string().transform(Number) });
isTrue<Equal<InputOf<typeof doubled>, { n: string }>>();
isTrue<Equal<OutputOf<typeof doubled>, { n: number }>>();

// What a handler returns is held to its output schema, in each of its forms.
const receipt = z.object({ id: z.string() });
const order = z.object({ amount: z.number() });
const paying = { ...about, inputSchema: order, outputSchema: receipt };
defineTool({ ...paying, execute: () => ({ id: 'r1' }) });
defineTool({ ...paying, execute: async () => ({ id: 'r1' }) });
defineTool({
  ...paying,
  execute: () => ({ content: [{ type: 'text', text: 'paid' }], structuredContent: { id: 'r1' } }),
});
defineTool({
  ...paying,
  async *execute() {
    yield { progress: 1 };
    return { id: 'r1' };
  },
});
// @ts-expect-error another member
defineTool({ ...paying, execute: () => ({ number: 1 }) });
// @ts-expect-error another type
defineTool({ ...paying, execute: async () => ({ id: 1 }) });
defineTool({
  ...about,
  inputSchema: order,
  outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  // @ts-expect-error nothing
  execute: () => undefined,
});
// Without one it returns what it likes.
defineTool({ ...about, inputSchema: order, execute: () => new Map() });

// @ts-expect-error no schema
defineTool({ ...about, inputSchema: 5, execute: () => 1 });
// @ts-expect-error a function that is none
defineTool({ ...about, inputSchema: () => ({}), execute: () => 1 });
