export const name = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
} as const;
export const text = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
} as const;
export const payment = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
} as const;
