import { z } from 'zod';

/**
 * A string field with well-known values that accepts any other: peers may be newer than we are. `read` gives the present
 * word for a former one.
 */
export const openEnum = <const T extends readonly string[]>(known: T, read?: (word: string) => string) => {
  const text = read ? z.string().overwrite(read) : z.string();
  return text.meta({ examples: [...known] }) as unknown as z.ZodType<T[number] | (string & {}), string>;
};

/**
 * Any JSON object, passed through as it is: arguments, state, extension data. Not `z.record`, which drops a
 * `__proto__` member, so that what is checked, shown and run would differ from what was asked for.
 */
export const record = z
  .unknown()
  .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'expected an object')
  .meta({ type: 'object' }) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>;

export const withMeta = { _meta: record.optional() };

/**
 * Accepts a discriminator that none of the known members claims. The inferred type is `_…` so that a
 * `switch` over the known members still narrows; at run time any string passes.
 */
export const strangerType = (known: readonly string[]) =>
  z
    .string()
    // Aborting, so that a malformed known member is reported with its own fault beside this one.
    .refine((type) => !known.includes(type), { message: 'does not match the shape of this known type', abort: true })
    .meta({ not: { enum: [...known] } }) as unknown as z.ZodType<`_${string}`, string>;

/** ISO 8601, UTC, milliseconds. */
export const timestamp = z.string().meta({ format: 'date-time' });
