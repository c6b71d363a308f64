import type { ContentPart, HostOptions, Model } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent, rulePolicy, textOfParts } from '../../src/index.ts';

const text = (words: string): ContentPart => ({ type: 'text', text: words });

/** An agent for pages: `find 7` looks up, `pay 5` asks and pays, `hold` says a word, and another once it is released. */
export function deskOf() {
  const paid: number[] = [];
  let held = Promise.withResolvers<void>();
  const model: Model = {
    name: 'clerk',
    async *generate({ contents }) {
      const last = (contents.at(-1)?.parts ?? []) as ContentPart[];
      const [verb = '', number] = textOfParts(last).split(' ');
      const isResult = last.some(({ type }) => type === 'function_response');
      const call = { type: 'function_call' as const, id: crypto.randomUUID(), name: verb };
      if (verb === 'hold') {
        yield { partial: true, content: { role: 'model', parts: [text('first')] } };
        await held.promise;
        held = Promise.withResolvers<void>();
        yield { partial: true, content: { role: 'model', parts: [text(' second')] } };
      }
      const parts: ContentPart[] = isResult
        ? [text('settled')]
        : verb === 'pay'
          ? [{ ...call, args: { amount: Number(number) } }]
          : verb === 'find'
            ? [{ ...call, args: { order: Number(number) } }]
            : [text(verb === 'hold' ? 'first second' : verb)];
      yield { content: { role: 'model', parts }, turnComplete: true, finishReason: 'stop' };
    },
  };
  const tools = [
    defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      execute: ({ amount }) => `${paid.push(Number(amount))} paid`,
    }),
    defineTool({
      name: 'find',
      description: 'Finds an order.',
      inputSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
      execute: ({ order }) => `order ${order}: 30`,
    }),
  ];
  const policy = rulePolicy([
    { id: 'reads', tool: 'find', outcome: 'allow' },
    { id: 'payments', tool: 'pay', outcome: 'ask' },
  ]);
  const agents = [new LlmAgent({ name: 'clerk', description: 'Pays bills.', model })];
  const host = (store: NonNullable<HostOptions['store']>) =>
    createHost({ app: 'interop', agents, tools, policy, store });
  return { paid, host, release: () => held.resolve() };
}
