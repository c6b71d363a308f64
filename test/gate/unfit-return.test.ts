import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import type { SchemaLike } from '../../src/contracts/index.ts';
import { ensureValidator } from '../../src/gate/index.ts';
import { unfitReturn } from '../../src/gate/run/unfit-return.ts';

beforeAll(async () => ensureValidator());

/** A receipt, in each way to say it; its number begins with r. */
const receipts: Record<string, SchemaLike> = {
  'zod 4': z.object({ id: z.string().refine((id) => id.startsWith('r')) }),
  'zod 3': z3.object({ id: z3.string().refine((id) => id.startsWith('r')) }),
  valibot: toStandardJsonSchema(
    v.object({
      id: v.pipe(
        v.string(),
        v.check((id) => id.startsWith('r')),
      ),
    }),
  ),
  arktype: type({ id: '/^r/' }),
  'JSON Schema': { type: 'object', properties: { id: { type: 'string', pattern: '^r' } }, required: ['id'] },
};
const receipt = z.object({ id: z.string() });

describe('what a handler returns is held to its output schema', () => {
  test.each(Object.entries(receipts))('of %s', async (_, outputSchema) => {
    expect(await unfitReturn({ outputSchema }, { id: 'r1' })).toBeUndefined();
    for (const wrong of [{ id: 'x1' }, { id: 1 }, {}, 'r1', undefined, [{ id: 'r1' }], new Uint8Array([1])]) {
      expect(await unfitReturn({ outputSchema }, wrong)).toMatchObject({
        fault: expect.stringMatching(/./),
        result: { isError: true, errorType: 'invalid_output' },
      });
    }
  });

  test('as JSON has it', async () => {
    expect(await unfitReturn({ outputSchema: { type: 'string' } }, new Date(0))).toBeUndefined();
    expect(await unfitReturn({ outputSchema: { type: 'null' } }, undefined)).toBeUndefined();
    expect(await unfitReturn({ outputSchema: receipt }, new Map([['id', 'r1']]))).toBeUndefined();
    expect(
      await unfitReturn({ outputSchema: { type: 'array', items: { type: 'number' } } }, new Set([1])),
    ).toBeUndefined();
  });

  test('and stays as it was returned: defaults and transforms change nothing', async () => {
    const value = {};
    const outputSchema = z.object({ id: z.string().default('r0') });
    expect(await unfitReturn({ outputSchema }, value)).toBeUndefined();
    expect(value).toEqual({});
  });

  test('a whole result by its structured content; not where it has none, or says that it has failed', async () => {
    const content = [{ type: 'text', text: 'paid' }];
    expect(await unfitReturn({ outputSchema: receipt }, { content, structuredContent: { id: 'r1' } })).toBeUndefined();
    expect(await unfitReturn({ outputSchema: receipt }, { content, display: [] })).toBeUndefined();
    expect(await unfitReturn({ outputSchema: receipt }, { content, isError: true })).toBeUndefined();
    expect(await unfitReturn({ outputSchema: receipt }, new Error('no'))).toBeUndefined();
    expect((await unfitReturn({ outputSchema: receipt }, { content, structuredContent: { no: 1 } }))?.fault).toMatch(
      /id/,
    );
  });

  test('nothing is promised without one', () => {
    expect(unfitReturn({}, Symbol('anything'))).toBeUndefined();
  });

  test('nothing that was returned is lost', async () => {
    const unfit = async (value: unknown) => (await unfitReturn({ outputSchema: receipt }, value))?.result;
    const text = (told: string) => ({ type: 'text', text: told });
    const why = text(expect.stringMatching(/^The call has run, but .*id/s) as unknown as string);
    const error = { isError: true, errorType: 'invalid_output' };
    expect(await unfit({ number: 7 })).toEqual({ content: [why, text('{"number":7}')], ...error });
    const image = { type: 'media', mimeType: 'image/png', data: 'eA==' };
    const display = [{ type: 'text', text: 'shown' }];
    const tailCalls = [{ name: 'log', args: {} }];
    const whole = {
      content: [image, text('paid')],
      structuredContent: { number: 7 },
      display,
      tailCalls,
      _meta: { a: 1 },
    };
    expect(await unfit(whole)).toEqual({
      content: [why, image, text('paid'), text('{"number":7}')],
      ...{ display, tailCalls, _meta: { a: 1 } },
      ...error,
    });
  });

  test('a schema that throws, or has a promise that does, is a fault', async () => {
    const failing = (validate: () => unknown) => ({
      '~standard': { version: 1, vendor: 'x', validate, jsonSchema: { input: () => ({ type: 'object' }) } },
    });
    const thrown = failing(() => {
      throw new Error('out of order');
    });
    for (const outputSchema of [thrown, failing(() => Promise.reject(new Error('out of order')))]) {
      expect((await unfitReturn({ outputSchema: outputSchema as never }, {}))?.fault).toBe('out of order');
    }
    expect((await unfitReturn({ outputSchema: new Map() as never }, {}))?.fault).toBeDefined();
  });
});
