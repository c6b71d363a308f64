import { createHost, defineTool, LlmAgent, rulePolicy, run } from 'coxswain';
import { connect } from 'coxswain/client';
import { serve } from 'coxswain/server';
import { ScriptedModel } from 'coxswain/testing';

/** Runs the example; `tell` is told what happens. Returns what the requester reads in the end. */
export async function main(tell: (line: string) => void): Promise<string> {
  const refund = defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    execute: ({ amount }) => `paid back ${amount}`,
  });
  const model = new ScriptedModel([{ calls: [['refund', { amount: 30 }]] }, 'It is paid back.']);
  const host = createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'clerk', model })],
    tools: [refund],
    policy: rulePolicy([
      { id: 'refunds', tool: 'refund', outcome: 'ask', approvers: { roles: ['boss'], notRequester: true } },
    ]),
  });

  // Whose a token is, is the application's to know.
  const people = new Map([
    ['token-of-anna', { id: 'anna' }],
    ['token-of-bert', { id: 'bert', roles: ['boss'] }],
  ]);
  const authenticate = ({ token }: { token?: string }) => people.get(token ?? '');
  let server = await serve(host, { authenticate });
  const { url, port } = server;

  const anna = await connect(url, { token: 'token-of-anna', onState: (state) => tell(`anna's connection: ${state}`) });
  const session = await anna.open('clerk', { sessionId: 'order-7', create: true });
  const events = session.watch();
  const { pending } = await run(session, 'Pay order 7 back.');
  tell(`anna waits for ${pending.map(({ name }) => name).join()}`);

  // The server goes away and comes back: anna's client connects again by itself.
  await server.close();
  server = await serve(host, { authenticate, port });

  const bert = await connect(url, { token: 'token-of-bert' });
  for (const { userId, request } of await bert.approvals.list()) {
    tell(`bert is asked: ${request.name} ${JSON.stringify(request.args)} for ${userId}`);
    await bert.approvals.decide(request.requestId, { kind: 'approve', args: { amount: 20 } });
  }

  let text = '';
  for await (const event of events) {
    if (event.type === 'tool_response') tell(`${event.name}: ${JSON.stringify(event.content[0])}`);
    if (event.type === 'message' && event.role === 'agent' && !event.partial) {
      text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
    if (event.type === 'stream_end' && event.reason === 'completed') break;
  }
  tell(`anna reads: ${text}`);
  await anna.close();
  await bert.close();
  await server.close();
  await host.close();
  return text;
}

if (process.argv[1] === import.meta.filename) await main((line) => process.stdout.write(`${line}\n`));
