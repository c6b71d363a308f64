/** An agent on stdio that does what its prompt says: a list of steps as JSON. */
import { appendFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import type { Step } from './steps.ts';

const [journal = ''] = process.argv.slice(2);
const note = (what: string) => appendFileSync(journal, `${JSON.stringify(what)}\n`);
const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];
const stopped = Promise.withResolvers<void>();
const asked: Promise<unknown>[] = [];

acp
  .agent({ name: 'steps' })
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: 'far' }))
  .onNotification('session/cancel', () => {
    note('cancel');
    stopped.resolve();
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const block = params.prompt.at(-1);
    await play(JSON.parse(block?.type === 'text' ? block.text : '[]') as Step[], client);
    return { stopReason: 'end_turn' as const };
  })
  .connect(
    acp.ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
    ),
  );

async function play(steps: readonly Step[], client: acp.AgentContext): Promise<void> {
  for (const step of steps) {
    if ('all' in step) await Promise.all(step.all.map((each) => play(each, client)));
    else if ('behind' in step) void play(step.behind, client).catch((error: Error) => note(`failed: ${error.message}`));
    else if ('asksAll' in step) await asksAll(step.asksAll, client);
    else if ('call' in step) await call(step.call, step.inside ?? [], client);
    else if ('begin' in step) await tell(client, step.begin, 'in_progress');
    else if ('read' in step) await read(step.read, client);
    else if ('write' in step) await write(step.write, client);
    else if ('cancelled' in step) await stopped.promise;
    else if ('asked' in step) while (asked.length < step.asked) await new Promise((next) => setImmediate(next));
    else process.exit(3);
  }
}

const callOf = (title: string) => ({
  toolCallId: title,
  title,
  kind: 'execute' as const,
  rawInput: { command: title },
});

async function ask(title: string, client: acp.AgentContext): Promise<boolean> {
  const answer: Promise<acp.RequestPermissionResponse> = client.request('session/request_permission', {
    sessionId: 'far',
    toolCall: callOf(title),
    options,
  });
  asked.push(answer);
  const { outcome } = await answer;
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  note(`${title}: ${chosen}`);
  return chosen === 'yes';
}

async function call(title: string, inside: readonly Step[], client: acp.AgentContext): Promise<void> {
  if (!(await ask(title, client))) return;
  await tell(client, title, 'in_progress');
  await play(inside, client);
  await tell(client, title, 'completed');
}

/** All have their answer before the first begins. */
async function asksAll(titles: readonly string[], client: acp.AgentContext): Promise<void> {
  await Promise.all(titles.map((title) => ask(title, client)));
  for (const title of titles) await tell(client, title, 'completed');
}

async function tell(client: acp.AgentContext, title: string, status: acp.ToolCallStatus): Promise<void> {
  await client.notify('session/update', {
    sessionId: 'far',
    update: { sessionUpdate: 'tool_call_update', ...callOf(title), status },
  });
}

async function read(path: string, client: acp.AgentContext): Promise<void> {
  const asking = client.request('fs/read_text_file', { sessionId: 'far', path });
  asked.push(asking);
  note(
    await asking.then(
      ({ content }) => `read ${content}`,
      (error: Error) => `not read: ${error.message}`,
    ),
  );
}

async function write(path: string, client: acp.AgentContext): Promise<void> {
  const asking = client.request('fs/write_text_file', { sessionId: 'far', path, content: 'new' });
  asked.push(asking);
  note(
    await asking.then(
      () => `wrote ${path}`,
      (error: Error) => `not written: ${error.message}`,
    ),
  );
}
