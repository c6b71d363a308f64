import { defineTool, LlmAgent, rulePolicy } from 'coxswain';
import { standIn } from './stand-in.ts';

/** Orders and what was paid for them, in EUR. */
const orders = new Map([
  [7, 30],
  [8, 900],
]);

export const tools = [
  defineTool({
    name: 'find_order',
    description: 'What was paid for an order, in EUR.',
    inputSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
    annotations: { readOnly: true },
    execute: ({ order }) =>
      orders.has(order) ? `order ${order}: ${orders.get(order)} EUR` : `there is no order ${order}`,
  }),
  defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: {
      type: 'object',
      properties: { order: { type: 'number' }, eur: { type: 'number', minimum: 1 } },
      required: ['order', 'eur'],
    },
    preview: ({ order, eur }) => [{ type: 'text', text: `Pays ${eur} EUR back for order ${order}.` }],
    execute: ({ order, eur }) => `${eur} EUR are paid back for order ${order}`,
  }),
];

/** Every refund is approved by a person; a large one by a supervisor, who is not the person that asked. */
export const policy = rulePolicy([
  { id: 'reads', tool: 'find_order', outcome: 'allow' },
  {
    id: 'large-refunds',
    tool: 'refund',
    args: { '/eur': { type: 'number', minimum: 100 } },
    outcome: 'ask',
    approvers: { roles: ['supervisor'], notRequester: true },
  },
  { id: 'refunds', tool: 'refund', outcome: 'ask' },
]);

export const agent = new LlmAgent({ name: 'clerk', description: 'Answers for the shop.', model: standIn });
