import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';

export const name = toStandardJsonSchema(v.object({ name: v.string() }));
export const text = toStandardJsonSchema(v.object({ text: v.string() }));
export const payment = toStandardJsonSchema(v.object({ amount: v.number() }));
