import { expect, test } from 'vitest';
import type { AcpPipe } from '../../src/adapters/acp/index.ts';
import { fromAcp, serveAcp } from '../../src/adapters/acp/index.ts';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all } from '../host/kit.ts';

type Frame = { id?: number; method?: string; params?: { prompt?: { text?: string }[] } };

/** An agent that is written by hand: what it sends, byte for byte, is what the prompt's number says. */
function rawAgent(sends: readonly (() => Iterable<string>)[]) {
  const kills: number[] = [];
  let starts = 0;
  let prompts = 0;
  const connect = (): AcpPipe => {
    const run = starts++;
    const encoder = new TextEncoder();
    const back = new TransformStream<Uint8Array, Uint8Array>();
    const writer = back.writable.getWriter();
    let isClosed = false;
    const send = async (text: string) => {
      if (!isClosed) await writer.write(encoder.encode(text)).catch(() => {});
    };
    const answer = (id: number | undefined, result: object) =>
      send(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    let rest = '';
    const decoder = new TextDecoder();
    const input = new WritableStream<Uint8Array>({
      async write(chunk) {
        rest += decoder.decode(chunk, { stream: true });
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { id, method } = JSON.parse(line) as Frame;
          if (method === 'initialize') await answer(id, { protocolVersion: 1, agentCapabilities: {} });
          else if (method === 'session/new') await answer(id, { sessionId: 's' });
          else if (method === 'session/prompt') {
            const made = sends[prompts++];
            void (async () => {
              for (const piece of made?.() ?? []) await send(piece);
              await answer(id, { stopReason: 'end_turn' });
            })();
          }
        }
      },
    });
    const close = async () => {
      isClosed = true;
      void writer.close().catch(() => {});
    };
    return {
      input,
      output: back.readable,
      close,
      kill: () => {
        kills.push(run);
        void close();
      },
    };
  };
  return { source: fromAcp({ name: 'raw', connect, cwd: '/work' }), kills, starts: () => starts };
}

const update = (update: string) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":${update}}}\n`;
const words = (text: string) =>
  update(JSON.stringify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }));
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const output = (raw: string) =>
  update(
    `{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"read","status":"completed","rawOutput":${raw}}`,
  );

function* large(bytes: number): Iterable<string> {
  yield '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","filled":"';
  const piece = 'z'.repeat(1024 * 1024);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
  yield '"}}\n';
}

const errorsOf = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'error');
const textOf = (events: readonly AgentEvent[]) =>
  JSON.stringify(events.filter((event) => event.type === 'message' && !event.partial));
const turn = (session: AgentSession, text: string) => all(session.stream(text));

test.each<[string, string, () => Iterable<string>]>([
  [
    'deeper than is read',
    'agent raw sent a frame that is nested more than 400 levels deep',
    () => [output(nested(401))],
  ],
  [
    'so deep that no stack holds it',
    'agent raw sent a frame that is nested more than 400 levels deep',
    () => [output(nested(200_000))],
  ],
  [
    'deep in what is not looked at',
    'nested more than 400 levels deep',
    () => [`{"jsonrpc":"2.0","method":"x/y","params":{"a":${nested(500)}}}\n`],
  ],
  ['larger than is read', 'agent raw sent a frame that has more than 33554432 bytes', () => large(33 * 1024 * 1024)],
])(
  'ATK3-03 a frame of an agent that is %s ends its connection, with an error that names the bound',
  async (_, what, sends) => {
    const agent = rawAgent([() => [words('before')], sends, () => [words('again')]]);
    const session = await agent.source.open(
      { sessionId: 's1', create: true },
      { app: 'shop', policy: { evaluate: () => ({ outcome: 'allow' as const }) } },
    );
    try {
      expect(textOf(await turn(session, 'one'))).toContain('before');
      const events = await turn(session, 'two');
      expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'failed' });
      expect(errorsOf(events)).toMatchObject([
        { code: 'E_AGENT_PROTOCOL', status: 'INTERNAL', message: expect.stringContaining(what) },
      ]);
      // It is not left running, and the next message starts it again.
      expect(agent.kills).toEqual([0]);
      const next = await turn(session, 'three');
      expect(next.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
      expect(textOf(next)).toContain('again');
      expect(agent.starts()).toBe(2);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  },
);

test('ATK3-03 a frame that is nested as deep as is read is taken', async () => {
  const agent = rawAgent([() => [output(nested(390)), words('fine')]]);
  const session = await agent.source.open(
    { sessionId: 's1', create: true },
    { app: 'shop', policy: { evaluate: () => ({ outcome: 'allow' as const }) } },
  );
  expect(textOf(await turn(session, 'one'))).toContain('fine');
  expect(agent.kills).toEqual([]);
  await session[Symbol.asyncDispose]();
});

test.each<[string, string, () => Iterable<string>]>([
  [
    'deep',
    'the editor sent a frame that is nested more than 400 levels deep',
    () => [`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"a":${nested(100_000)}}}}\n`],
  ],
  ['large', 'the editor sent a frame that has more than 33554432 bytes', () => large(33 * 1024 * 1024)],
])(
  'ATK3-03 a frame of an editor that is too %s ends its connection, and what it had open is closed',
  async (_, what, sends) => {
    const host = createHost({
      app: 'shop',
      agents: [new LlmAgent({ name: 'ours', model: new ScriptedModel(['x']) })],
      warn: () => {},
    });
    const there = new TransformStream<Uint8Array, Uint8Array>();
    const back = new TransformStream<Uint8Array, Uint8Array>();
    const warnings: string[] = [];
    const closed: string[] = [];
    const server = await serveAcp(
      {
        open: () => host.open('ours'),
        closed: async ({ id }) => void closed.push(id),
        warn: (message) => void warnings.push(message),
      },
      { input: there.readable, output: back.writable },
    );
    const reader = back.readable.getReader();
    const writer = there.writable.getWriter();
    const encoder = new TextEncoder();
    const send = (text: string) => writer.write(encoder.encode(text));
    const ask = async (id: number, method: string, params: object) => {
      await send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return new TextDecoder().decode((await reader.read()).value);
    };
    await ask(1, 'initialize', { protocolVersion: 1 });
    expect(await ask(2, 'session/new', { cwd: '/work', mcpServers: [] })).toContain('sessionId');
    void (async () => {
      for (const piece of sends()) await send(piece);
    })().catch(() => {});
    await server.closed;
    expect(warnings).toEqual([expect.stringContaining(what)]);
    expect(closed).toHaveLength(1);
    await host.close();
  },
);
