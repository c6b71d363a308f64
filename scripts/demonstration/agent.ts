import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { AgentModule, Content, Model } from 'coxswain';
import { defineTool, LlmAgent, subagentTool } from 'coxswain';
import { fromAcp } from 'coxswain/acp';

const orders: Readonly<Record<string, { customer: string; item: string; paid: number }>> = {
  '1007': { customer: 'Kim Larsen', item: 'deck shoes, size 42', paid: 80 },
};

const lookUpOrder = defineTool({
  name: 'look_up_order',
  description: 'Looks up an order.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  annotations: { readOnly: true },
  execute: ({ order }) => orders[order] ?? { error: `there is no order ${order}` },
});

/** Each refund is a line in `refunds.txt`, so that it can be counted how often it ran. */
const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to the card that an order was paid with.',
  inputSchema: {
    type: 'object',
    properties: {
      order: { type: 'string', description: 'number of the order' },
      eur: { type: 'number', minimum: 1, description: 'amount' },
    },
    required: ['order', 'eur'],
  },
  preview: ({ order, eur }) => [
    { type: 'text', text: `Refund of ${eur.toFixed(2)} EUR to the card ending in 4242, order ${order}` },
  ],
  execute: ({ order, eur }) => {
    appendFileSync('refunds.txt', `${order} ${eur.toFixed(2)}\n`);
    const count = readFileSync('refunds.txt', 'utf8').trim().split('\n').length;
    return `refunded ${eur.toFixed(2)} EUR of order ${order}; refunds so far: ${count}`;
  },
});

/**
 * The agent of another company, as a program of its own that speaks the Agent Client Protocol. Nothing that it asks to do
 * runs without this shop's policy.
 */
const payway = subagentTool(
  fromAcp({
    name: 'payway',
    description: 'The agent of the payment provider PayWay: refunds what was paid through them.',
    command: process.execPath,
    args: ['payway.ts'],
    cwd: import.meta.dirname,
  }),
);

/**
 * Stands for a model: looks the order up that the message names, asks for a refund of what was paid, and reports. What was
 * paid through PayWay it hands on.
 */
const standIn: Model = {
  name: 'stand-in',
  async *generate({ contents }) {
    const parts = contents.flatMap((content) => content.parts);
    const asked = parts.find((part) => part.type === 'text' && /\border (\d+)/.test(part.text));
    const order = asked?.type === 'text' ? (/\border (\d+)/.exec(asked.text)?.[1] ?? '1007') : '1007';
    const results = parts.flatMap((part) => (part.type === 'function_response' ? [part] : []));
    const call = (name: string, args: Record<string, unknown>) => ({
      type: 'function_call' as const,
      id: crypto.randomUUID(),
      name,
      args,
    });
    const request = asked?.type === 'text' ? asked.text : '';
    const ofPayway: Content['parts'][] = [
      [{ type: 'text', text: 'It was paid through PayWay. I ask their agent.' }, call('payway', { request })],
      [{ type: 'text', text: `Their agent says: ${String(results.at(-1)?.response.content ?? 'nothing')}` }],
    ];
    const own: Content['parts'][] = [
      [{ type: 'text', text: `I look up order ${order}.` }, call('look_up_order', { order })],
      [
        { type: 'text', text: 'It was paid by card. I ask for the refund.' },
        call('refund', { order, eur: orders[order]?.paid ?? 20 }),
      ],
      [{ type: 'text', text: results.at(-1)?.isError ? 'The refund was not approved.' : 'The refund is on its way.' }],
    ];
    const steps = /PayWay/.test(request) ? ofPayway : own;
    const step = Math.min(results.length, steps.length - 1);
    yield {
      content: { role: 'model', parts: steps[step] ?? [] },
      finishReason: step < steps.length - 1 ? 'tool_calls' : 'stop',
      turnComplete: true,
      usage: { inputTokens: 420 + 180 * step, outputTokens: 38, cachedInputTokens: step > 0 ? 400 : 0 },
      model: 'stand-in',
    };
  },
};

/** A shop's clerk, for a demonstration without a model's key. */
export default (): AgentModule => ({
  agent: new LlmAgent({
    name: 'clerk',
    description: 'Answers for the shop.',
    model: standIn,
    instruction: 'You answer for a shop. Refunds need an approval.',
  }),
  tools: [lookUpOrder, refund, payway],
  ...(existsSync('refunds.txt') ? {} : { examples: ['Please refund order 1007: the shoes do not fit.'] }),
});
