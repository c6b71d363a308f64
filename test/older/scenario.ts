import { once } from 'node:events';
import WebSocket from 'ws';

// What is recorded, in words that every version of the wire understands. It was run once by the code of an older version,
// and is run by today's: nothing in it may follow a change of names within src.

/** What a scripted model answers, in the order in which it is asked. */
export const script = [
  {
    thought: 'first a look',
    deltas: ['I look ', 'and note.'],
    calls: [
      ['look', { at: 'ann' }],
      ['note', { text: 'ann' }],
      ['drop', { all: true }],
      ['nothing', {}],
    ],
    usage: { inputTokens: 20, outputTokens: 10 },
  },
  { text: 'Now I pay.', calls: [['pay', { to: 'ann', eur: 5 }]] },
  { deltas: ['Paid ', 'ann.'], usage: { inputTokens: 40, outputTokens: 5, thoughtsTokens: 2 } },
  { text: 'I ask.', calls: [['sure', {}]] },
  'Then not.',
  'You are welcome.',
  { thought: 'at once', calls: [['pay', { to: 'bob', eur: 7 }]] },
] as const;

interface Tool {
  name: string;
  description: string;
  inputSchema: object;
  annotations?: object;
  execute(args: unknown, context: Record<string, never>): unknown;
}

const object = (properties: object = {}) => ({ type: 'object', properties });

/** Tools of the host: one that only reads, one that a person must let run, one that policy denies. */
export const hostTools: Tool[] = [
  {
    ...{ name: 'look', description: 'Looks', inputSchema: object({ at: { type: 'string' } }) },
    annotations: { readOnly: true },
    execute: () => ({ found: ['a', 1, null] }),
  },
  {
    ...{ name: 'pay', description: 'Pays', inputSchema: object({ to: { type: 'string' }, eur: { type: 'number' } }) },
    execute: () => 'paid',
  },
  { name: 'drop', description: 'Drops', inputSchema: object({ all: { type: 'boolean' } }), execute: () => 'dropped' },
];

/** Tools of the agent: one that writes state, one that asks by itself. */
export const agentTools: Tool[] = [
  {
    ...{ name: 'note', description: 'Notes', inputSchema: object({ text: { type: 'string' } }) },
    execute(args, context) {
      const { state } = context as unknown as { state: { set(key: string, value: unknown): void } };
      state.set('noted', (args as { text: string }).text);
      return { content: [{ type: 'text', text: 'noted' }] };
    },
  },
  {
    ...{ name: 'sure', description: 'Asks', inputSchema: object() },
    execute(_, context) {
      const { confirmation, requestConfirmation } = context as unknown as {
        confirmation?: unknown;
        requestConfirmation(asked: object): void;
      };
      return confirmation ? 'sure' : requestConfirmation.call(context, { hint: 'Sure?', payload: { n: 1 } });
    },
  },
];

export const rules = {
  org: [
    { id: 'reads', tool: ['look', 'note', 'sure'], outcome: 'allow' },
    { id: 'money', tool: 'pay', outcome: 'ask_user', reason: 'it is money', approvers: { roles: ['boss'] } },
    { id: 'never', tool: 'drop', outcome: 'deny', reason: 'not here', redact: ['/all'] },
  ],
};

/** Frames of one connection, as text, in the order in which they came. */
export class Frames {
  readonly texts: string[] = [];
  readonly #ws: WebSocket;
  readonly #waiting = new Set<() => void>();
  #id = 0;
  #token: unknown;
  #streams = 0;

  private constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on('message', (data) => {
      this.texts.push(String(data));
      for (const wake of this.#waiting) wake();
    });
  }

  static async open(url: string, token: string): Promise<Frames> {
    const ws = new WebSocket(url, ['coxswain.v1'], { headers: { authorization: `Bearer ${token}` } });
    const frames = new Frames(ws);
    await once(ws, 'open');
    return frames;
  }

  /** The answer to a request. */
  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    this.#ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const answer = await this.until((frame) => frame.id === id);
    if (!answer.result) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result as Record<string, unknown>;
  }

  /** The newest frame that is so, once there is one behind `from`. */
  async until(is: (frame: Record<string, unknown>) => boolean, from = 0): Promise<Record<string, unknown>> {
    for (;;) {
      for (const text of this.texts.slice(from)) {
        const frame = JSON.parse(text) as Record<string, unknown>;
        if (is(frame)) return frame;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  /** Opens or attaches; who comes first is in control. */
  async take(method: string, params: object): Promise<void> {
    this.#token = (await this.ask(method, params)).fencingToken;
  }

  async respond(params: object): Promise<void> {
    await this.ask('session/respond', { ...params, fencingToken: this.#token });
  }

  /** A turn until its stream has ended; its pending requests. */
  async turn(sessionId: string, input: unknown): Promise<Record<string, unknown>[]> {
    const from = this.texts.length;
    await this.ask('session/stream', {
      ...{ sessionId, input, fencingToken: this.#token, streamId: `stream-${++this.#streams}` },
    });
    await this.until((frame) => eventOf(frame)?.type === 'stream_end', from);
    return (await this.ask('session/pending', { sessionId })).pending as Record<string, unknown>[];
  }

  async close(): Promise<void> {
    this.#ws.close();
    await once(this.#ws, 'close');
  }
}

export function eventOf(frame: Record<string, unknown>): Record<string, unknown> | undefined {
  return (frame.params as { event?: Record<string, unknown> } | undefined)?.event;
}

/** What a person does over one connection; then what another one is sent who comes later. */
export async function drive(url: string): Promise<{ frames: string[]; later: string[] }> {
  const frames = await Frames.open(url, 'ann:boss');
  await frames.ask('initialize', { protocolVersion: '1' });
  const sessionId = 'recorded';
  await frames.take('session/open', { agent: 'bot', sessionId, create: true });
  const [money] = await frames.turn(sessionId, 'Pay Ann');
  const { requestId, approval } = money as { requestId: string; approval: { previewDigest: string } };
  await frames.respond({
    ...{ sessionId, requestId },
    answer: { kind: 'approve', previewDigest: approval.previewDigest, reason: 'she earned it' },
  });
  const [sure] = await frames.turn(sessionId, { kind: 'continue' });
  if (sure) throw new Error('something is open still');
  const [asks] = await frames.turn(sessionId, [{ kind: 'message', content: [{ type: 'text', text: 'Sure?' }] }]);
  const own = { sessionId, requestId: (asks as { requestId: string }).requestId };
  await frames.respond({ ...own, answer: { kind: 'elicitation', action: 'decline' } });
  await frames.turn(sessionId, { kind: 'continue' });
  await frames.turn(sessionId, 'Thanks');
  // It is left with a question, which somebody answers another day.
  await frames.take('session/open', { agent: 'bot', sessionId: 'waiting', create: true });
  await frames.turn('waiting', 'Pay Bob');
  await frames.close();
  const others = await Frames.open(url, 'ann:boss');
  await others.ask('initialize', { protocolVersion: '1' });
  await others.ask('session/attach', { agent: 'bot', sessionId, control: false });
  await others.until((frame) => frame.method === 'session/live');
  await others.ask('session/events', { sessionId, limit: 3 });
  await others.close();
  return { frames: frames.texts, later: others.texts };
}
