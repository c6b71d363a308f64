/**
 * Stands for the agent of another company: a program on stdin and stdout, made with the official SDK of the Agent Client
 * Protocol, that knows nothing of who drives it. It wants to refund more than was paid, and then what was paid; each
 * refund that it makes is a line in `payway.txt`.
 */
import { appendFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const SESSION = 'payway-1';
const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

acp
  .agent({ name: 'payway' })
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: SESSION }))
  .onRequest('session/prompt', async ({ params, client }) => {
    const words = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
    const order = /\border (\d+)/.exec(words)?.[1] ?? '';
    const note = (await refund(client, order, 600)) ? 'Everything' : 'Not everything';
    const paid = (await refund(client, order, 45)) ? '45.00 EUR of order' : 'nothing of order';
    await say(client, `${note} is refunded: ${paid} ${order}.`);
    return { stopReason: 'end_turn' as const };
  })
  .connect(
    acp.ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
    ),
  );

/** Asks, as the protocol has it, and does what it may. */
async function refund(client: acp.AgentContext, order: string, eur: number): Promise<boolean> {
  const toolCall: acp.ToolCallUpdate = {
    toolCallId: `refund-${order}-${eur}`,
    name: 'refund',
    title: `Refund ${eur.toFixed(2)} EUR to the PayWay account of the buyer`,
    kind: 'other',
    rawInput: { order, eur },
  };
  const { outcome } = await client.request('session/request_permission', { sessionId: SESSION, toolCall, options });
  const isAllowed = outcome.outcome === 'selected' && outcome.optionId === 'yes';
  if (isAllowed) appendFileSync('payway.txt', `${order} ${eur.toFixed(2)}\n`);
  const text = isAllowed ? `PayWay has refunded ${eur.toFixed(2)} EUR of order ${order}` : 'not refunded';
  await client.notify('session/update', {
    sessionId: SESSION,
    update: {
      sessionUpdate: 'tool_call_update',
      ...toolCall,
      status: isAllowed ? 'completed' : 'failed',
      content: [{ type: 'content', content: { type: 'text', text } }],
    },
  });
  return isAllowed;
}

async function say(client: acp.AgentContext, text: string): Promise<void> {
  await client.notify('session/update', {
    sessionId: SESSION,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  });
}
