import { type } from 'arktype';

export const name = type({ name: 'string' });
export const text = type({ text: 'string' });
export const payment = type({ amount: 'number' });
