import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import type { ContentPart, Model } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent, textOfParts } from '../../src/index.ts';

/** Pays what it is told to (`pay 5`), and says what it is told otherwise. */
const model: Model = {
  name: 'clerk',
  async *generate({ contents }) {
    const last = (contents.at(-1)?.parts ?? []) as ContentPart[];
    const words = textOfParts(last);
    const [verb, amount] = words.split(' ');
    const parts: ContentPart[] = last.some(({ type }) => type === 'function_response')
      ? [{ type: 'text', text: 'settled' }]
      : verb === 'pay'
        ? [{ type: 'function_call', id: 'c', name: 'pay', args: { amount: Number(amount) } }]
        : [{ type: 'text', text: words }];
    yield { content: { role: 'model', parts }, turnComplete: true, finishReason: 'stop' };
  },
};

/** An agent with one tool that needs a yes. */
export function shop() {
  const paid: number[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    execute: ({ amount }) => void paid.push(Number(amount)),
  });
  const agent = new LlmAgent({ name: 'clerk', description: 'Pays bills.', model });
  return { paid, host: createHost({ app: 'interop', agents: [agent], tools: [pay] }) };
}

/** The same behind our own MCP server. */
export async function openShop() {
  const { paid, host } = shop();
  const http = await serveMcpHttp(host);
  return {
    url: http.url,
    paid,
    async [Symbol.asyncDispose]() {
      await http.close();
      await host.close();
    },
  };
}
