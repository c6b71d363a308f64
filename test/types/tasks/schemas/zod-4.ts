import { z } from 'zod';

export const name = z.object({ name: z.string() });
export const text = z.object({ text: z.string() });
export const payment = z.object({ amount: z.number() });
