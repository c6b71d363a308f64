import { z } from 'zod';
import { connect } from '../../../src/adapters/remote/index.ts';
import { openSqlite } from '../../../src/adapters/stores/sqlite.ts';
import { mcpToolset } from '../../../src/adapters/tools/mcp.ts';
import { serve } from '../../../src/host/websocket/index.ts';
import type { RequestAnswer, ToolCallContext } from '../../../src/index.ts';
import { createHost, defineTool, LlmAgent, policyFor, readStream, rulePolicy, run } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';

interface Bank {
  paid: number[];
}
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  execute: ({ amount }, { deps, principal }: ToolCallContext<Bank>) => {
    deps.paid.push(amount);
    return `${principal.id} paid ${amount}`;
  },
});
const script = [{ calls: [['pay', { amount: 300 }] as const] }, 'Paid.'];
const bot = () => new LlmAgent({ name: 'bot', model: new ScriptedModel(script) });
const asking = rulePolicy([{ id: 'big', tool: 'pay', args: { '/amount': { minimum: 100 } }, outcome: 'ask' }]);

/** 3 Host, 10 test: a tool's dependencies are demanded; the model says what it is told to. */
export const bankHost = (bank: Bank, more: { policy?: typeof asking } = {}) =>
  createHost({ app: 'bank', agents: [bot()], tools: [pay], deps: bank, policy: asking, ...more });

/** 4 Stream: words as they come, and what the stream came to. */
export async function streamed(bank: Bank): Promise<string[]> {
  const session = await bankHost(bank).open('bot');
  const { text, result } = readStream(session.stream('Hello'));
  const words: string[] = [];
  for await (const word of text) words.push(word);
  return [...words, (await result()).reason];
}

/** 5 Approve: the question has the call that it is about. */
export async function approved(bank: Bank): Promise<string[]> {
  const session = await bankHost(bank).open('bot', { principal: { id: 'ann' } });
  const { pending } = await run(session, 'Pay 300.');
  const shown: string[] = [];
  for (const request of pending) {
    if (!request.approval) continue;
    shown.push(`${request.name} ${request.args.amount} for ${request.approval.requestedBy.id}`);
    await session.respond(request.requestId, { kind: 'approve', previewDigest: request.approval.previewDigest });
  }
  return [...shown, (await run(session, { kind: 'continue' })).text];
}

/** 6 Persist: another host over the store goes on with the session. */
export async function persisted(path: string, bank: Bank): Promise<string> {
  const over = () => createHost({ app: 'bank', agents: [bot()], tools: [pay], deps: bank, store: openSqlite(path) });
  const before = over();
  await run(await before.open('bot', { sessionId: 's', create: true }), 'Pay 300.');
  await before.close();
  const session = await over().open('bot', { sessionId: 's' });
  const [request] = await session.pending();
  return request?.approval ? `${request.name} is open` : 'nothing is open';
}

/** 7 Serve: a session of a page's, over a socket. */
export async function served(bank: Bank): Promise<string> {
  const server = await serve(bankHost(bank), { port: 0, authenticate: () => ({ id: 'ann' }) });
  const client = await connect(server.url, { token: 'any' });
  const { reason } = await run(await client.open('bot'), 'Pay 300.');
  await client.close();
  await server.close();
  return reason;
}

/** 8 MCP: tools of a server, under the host's policy. */
export function withServer(url: string) {
  return createHost({ app: 'bank', agents: [bot()], toolProviders: [mcpToolset({ url })] });
}

/** 9 Policy in code: by the tools' names and arguments. */
export async function judged(bank: Bank): Promise<string> {
  const policy = policyFor([pay], { pay: ({ amount }) => (amount > 100 ? 'deny' : 'allow') });
  const host = createHost({ app: 'bank', agents: [bot()], tools: [pay], deps: bank, policy });
  const { denied } = await run(await host.open('bot'), 'Pay 300.');
  return denied.join();
}

/** What does not compile; never run. */
export function wrong() {
  // @ts-expect-error its tool takes them
  createHost({ app: 'bank', agents: [bot()], tools: [pay] });
  // @ts-expect-error no store
  createHost({ app: 'bank', agents: [bot()], store: { foo: 1 } });
  // @ts-expect-error no such tool
  policyFor([pay], { pya: 'allow' });
  // @ts-expect-error no such argument
  policyFor([pay], { pay: ({ amuont }) => (amuont ? 'allow' : 'deny') });
  // @ts-expect-error no such answer
  const answer: RequestAnswer = { kind: 'aprove' };
  // @ts-expect-error no such word of a model
  const odd = new ScriptedModel([{ cals: [] }]);
  return [answer, odd];
}
