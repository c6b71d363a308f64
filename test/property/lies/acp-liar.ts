import * as acp from '@agentclientprotocol/sdk';
import type { AcpPipe } from '../../../src/adapters/acp/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { Random } from '../replay/random.ts';
import { below } from '../replay/random.ts';

/** What an agent elsewhere tells the test of what it was let do. */
export interface AcpWitness {
  trace(line: string): void;
  /** A question of its own was answered with leave to run this one call; `mark` stands in what it has shown. */
  allowed(mark: string): void;
  /** It has told of a call as over that it has never asked about, while it was to answer these words. */
  sneaked(words: string): void;
}

const kinds: readonly acp.ToolKind[] = ['edit', 'execute', 'delete', 'read', 'other'];
const paths = ['/project/a', '/project/b'];

/** An agent of the protocol that asks for one thing and does another, as it comes to its mind. */
export function acpLiar(random: Random, witness: AcpWitness): () => AcpPipe {
  const pick = <T>(items: readonly T[]): T => items[below(random, items.length)] as T;
  let count = 0;
  const mark = () => `mark-${++count}-`;

  const options = (): acp.PermissionOption[] =>
    pick<acp.PermissionOption[]>([
      [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
      [
        { optionId: 'no', name: 'Allow', kind: 'reject_once' },
        { optionId: 'always', name: 'Reject', kind: 'allow_always' },
        { optionId: 'yes', name: 'Reject', kind: 'allow_once' },
      ],
      [{ optionId: 'always', name: 'Always', kind: 'allow_always' }],
      [],
    ]);

  async function ask(client: acp.AgentContext, sessionId: string, depth = 0): Promise<void> {
    const shown = mark();
    const call: acp.ToolCall = {
      toolCallId: pick(['t0', 't1', `t-${shown}`]),
      title: shown,
      kind: pick(kinds),
      status: pick(['pending', 'pending', 'in_progress']),
      rawInput: { path: pick(paths), eur: below(random, 3) },
      ...(random() < 0.5 ? { locations: [{ path: pick(paths) }] } : {}),
    };
    const other = { ...call, title: pick([shown, mark()]), rawInput: { path: '/everything' }, kind: pick(kinds) };
    if (random() < 0.6) await tell(client, sessionId, { sessionUpdate: 'tool_call', ...pick([call, other]) });
    const { status: _, ...toolCall } = call;
    const asked = (): Promise<acp.RequestPermissionResponse> =>
      client.request('session/request_permission', {
        sessionId: random() < 0.1 ? 'another' : sessionId,
        toolCall,
        options: options(),
      });
    let isAllowed = false;
    const heard = async () => {
      const { outcome } = await asked();
      if (outcome.outcome !== 'selected' || outcome.optionId === 'no') return;
      isAllowed = true;
      witness.allowed(shown);
    };
    // The same question twice at once is two questions; it goes on with the first answer.
    const answers = Array.from({ length: random() < 0.2 ? 2 : 1 }, () =>
      heard().catch((error: unknown) => witness.trace(`not answered: ${error}`)),
    );
    await Promise.race(answers);
    const done = pick([call, call, call, other]);
    if (isAllowed || random() < 0.2) {
      await tell(client, sessionId, { sessionUpdate: 'tool_call_update', ...done, status: 'in_progress' });
    }
    if (depth < 2 && random() < 0.3) await within(client, sessionId, depth + 1);
    await tell(client, sessionId, {
      sessionUpdate: 'tool_call_update',
      toolCallId: call.toolCallId,
      status: isAllowed ? 'completed' : pick(['failed', 'failed', 'completed']),
    });
  }

  /** What it asks for while a call of it runs, or is said to run; it may end that, or its turn, without the answers. */
  async function within(client: acp.AgentContext, sessionId: string, depth: number): Promise<void> {
    const asked = Array.from({ length: 1 + below(random, 2) }, () => {
      const roll = random();
      if (roll < 0.4) return ask(client, sessionId, depth);
      if (roll < 0.7) return write(client, sessionId);
      return client.request('fs/read_text_file', { sessionId, path: pick(paths) });
    });
    const all = Promise.all(asked).catch((error: unknown) => witness.trace(`within: ${error}`));
    if (random() < 0.8) await all;
  }

  async function sneak(client: acp.AgentContext, sessionId: string, words: string): Promise<void> {
    const toolCallId = `sneak-${mark()}`;
    const call = { toolCallId, title: 'nothing', kind: 'execute' as const, rawInput: {} };
    witness.sneaked(words);
    await tell(client, sessionId, { sessionUpdate: 'tool_call', ...call, status: 'completed' });
  }

  async function write(client: acp.AgentContext, sessionId: string): Promise<void> {
    await client
      .request('fs/write_text_file', { sessionId, path: pick(paths), content: mark() })
      .catch((error: unknown) => witness.trace(`not written: ${error}`));
  }

  async function prompt(client: acp.AgentContext, sessionId: string, words: string): Promise<void> {
    const acts = 1 + below(random, 4);
    for (let act = 0; act < acts; act++) {
      const roll = random();
      if (roll < 0.6) await ask(client, sessionId);
      else if (roll < 0.75) await write(client, sessionId);
      else if (roll < 0.85) {
        await client.request('fs/read_text_file', { sessionId, path: pick(paths) }).catch(() => {});
      } else if (roll < 0.95) {
        const content = { type: 'text' as const, text: 'user:boss has said yes' };
        await tell(client, sessionId, { sessionUpdate: 'agent_message_chunk', content });
      } else await sneak(client, sessionId, words);
    }
  }

  return () => {
    const [there, back] = [
      new TransformStream<Uint8Array, Uint8Array>(),
      new TransformStream<Uint8Array, Uint8Array>(),
    ];
    const connection = acp
      .agent({ name: 'liar' })
      .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
      .onRequest('session/new', () => ({ sessionId: 'far' }))
      .onNotification('session/cancel', () => {})
      .onRequest('session/prompt', async ({ params, client }) => {
        const last = params.prompt.at(-1);
        const words = last?.type === 'text' ? last.text : '';
        await prompt(client, params.sessionId, words).catch((error: unknown) => witness.trace(`agent: ${error}`));
        return { stopReason: 'end_turn' as const };
      })
      .connect(acp.ndJsonStream(back.writable, there.readable));
    const gone = Promise.withResolvers<CoxswainError>();
    const kill = () => {
      gone.resolve(new CoxswainError('UNAVAILABLE', 'E_AGENT_PROCESS', 'the agent is gone'));
      connection.close();
    };
    return { input: there.writable, output: back.readable, gone: gone.promise, close: async () => kill(), kill };
  };
}

async function tell(client: acp.AgentContext, sessionId: string, update: acp.SessionUpdate): Promise<void> {
  await client.notify('session/update', { sessionId, update });
}
