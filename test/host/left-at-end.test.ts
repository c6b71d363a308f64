import { expect, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import type { AgentHost, AgentSession } from '../../src/index.ts';
import { createHost } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { all, bot, notingTool, policyOf } from './kit.ts';

const noted = notingTool('pay');
const policy = policyOf({ pay: 'ask' });
const agent = () => bot([{ calls: [['pay', {}]] }, 'done'], { name: 'liar' });
const liar = () => lyingExecutor({ calls: [{ id: 'c1', name: 'pay', args: {} }] });

test.each<[string, (stack: AsyncDisposableStack) => Promise<AgentSession>]>([
  [
    'a session of a host',
    async (stack) => hosted(stack, createHost({ app: 'shop', agents: [agent()], tools: [noted.tool], policy })),
  ],
  [
    'a session of a host, of another executor',
    async (stack) => hosted(stack, createHost({ app: 'shop', agents: [liar()], tools: [noted.tool], policy })),
  ],
  [
    'a session of a host, of an executor elsewhere',
    async (stack) => {
      const server = await serveExecutor({ app: 'far', agents: [liar()] });
      stack.defer(() => server.close());
      const remote = stack.use(await connect(server.url, { token: server.token ?? '' }));
      return hosted(stack, createHost({ app: 'shop', agents: remote.sources, tools: [noted.tool], policy }));
    },
  ],
  [
    'a session of a host elsewhere',
    async (stack) => {
      const host = createHost({ app: 'shop', agents: [agent()], tools: [noted.tool], policy });
      stack.defer(() => host.close());
      const server = await serve(host);
      stack.defer(() => server.close());
      const remote = stack.use(await connect(server.url, { token: server.token ?? '' }));
      return stack.use(await remote.open('liar'));
    },
  ],
])('whoever leaves the stream of %s at its end leaves open what is open', async (_, open) => {
  await using stack = new AsyncDisposableStack();
  const session = await open(stack);
  for (let left = 0; left < 2; left++) {
    for await (const event of session.stream(left === 0 ? 'go' : { kind: 'continue' })) {
      if (event.type === 'stream_end') break;
    }
    expect(await session.pending()).toHaveLength(1);
  }
  const stream = session.stream({ kind: 'continue' });
  await all(stream);
  await stream.return?.();
  expect(await session.pending()).toHaveLength(1);
});

async function hosted(stack: AsyncDisposableStack, host: AgentHost): Promise<AgentSession> {
  stack.defer(() => host.close());
  return host.open('liar', { create: true });
}
