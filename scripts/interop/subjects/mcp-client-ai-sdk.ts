import { openShop } from '../shop.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

interface AiSdk {
  createMCPClient(config: object): Promise<{
    tools(): Promise<Record<string, { execute(args: object, options: object): Promise<unknown> }>>;
    onElicitationRequest(schema: unknown, handler: () => Promise<object>): void;
    close(): Promise<void>;
  }>;
  ElicitationRequestSchema: unknown;
}

export default subject({
  name: '@ai-sdk/mcp',
  role: 'MCP client',
  packages: { '@ai-sdk/mcp': '2.0.99' },
  async run({ check, file }) {
    const sdk = (await import(file('@ai-sdk/mcp/dist/index.js'))) as AiSdk;
    await using shop = await openShop();
    const transport = { type: 'http', url: shop.url };
    const client = await sdk.createMCPClient({ transport, capabilities: { elicitation: {} } });
    let yes = true;
    client.onElicitationRequest(sdk.ElicitationRequestSchema, async () =>
      yes ? { action: 'accept', content: { decision: 'allow' } } : { action: 'decline' },
    );
    const call = async (prompt: string) => {
      const { clerk } = await client.tools();
      return JSON.stringify(await clerk?.execute({ prompt }, { toolCallId: 'c', messages: [] }));
    };
    await check('lists the agent', async () => Object.keys(await client.tools()).join());
    await check('calls it', async () => {
      const said = await call('say hello');
      hold(said.includes('hello'), said);
      return '';
    });
    await check('a payment runs once after a yes', async () => {
      const said = await call('pay 5');
      hold(said.includes('settled') && shop.paid.join() === '5', `${said} paid: ${shop.paid.join()}`);
      return '';
    });
    await check('and not after a no', async () => {
      yes = false;
      await call('pay 6');
      hold(shop.paid.join() === '5', `paid: ${shop.paid.join()}`);
      return '';
    });
    await client.close();
  },
});
