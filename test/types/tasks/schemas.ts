import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod-3';

/** A name, and a text of it, in each library. */
export const libraries = {
  zod: { name: z.object({ name: z.string() }), text: z.object({ text: z.string() }) },
  'zod 3': { name: z3.object({ name: z3.string() }), text: z3.object({ text: z3.string() }) },
  valibot: {
    name: toStandardJsonSchema(v.object({ name: v.string() })),
    text: toStandardJsonSchema(v.object({ text: v.string() })),
  },
  arktype: { name: type({ name: 'string' }), text: type({ text: 'string' }) },
  'JSON Schema': {
    name: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    text: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
} as const;
