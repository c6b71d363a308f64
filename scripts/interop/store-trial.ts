import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import type { AgentEvent, AgentHost, ContentPart, Model, RequestAnswer } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent } from '../../src/index.ts';
import type { Trial } from './subject.ts';
import { hold } from './under-gate.ts';

/** What a text of a log may hold: other scripts, a character beyond 16 bits, quotes, a backslash and a NUL. */
export const ODD = 'Grüße 世界 😀 \'"\\ \u0000 end';
const PATIENCE_MS = 60_000;

/** One call, and words once it has a result. */
const model: Model = {
  name: 'payer',
  async *generate({ contents }) {
    const last = (contents.at(-1)?.parts ?? []) as ContentPart[];
    const parts: ContentPart[] = last.some(({ type }) => type === 'function_response')
      ? [{ type: 'text', text: `done ${ODD}` }]
      : [{ type: 'function_call', id: 'c', name: 'pay', args: { note: ODD } }];
    yield { content: { role: 'model', parts }, turnComplete: true, finishReason: 'stop' };
  },
};

/** A host of its own over the store, as another process would have, for some work. Node 22 does not know `using`. */
async function at<T>(
  url: string,
  paid: string[],
  onApproval: (() => RequestAnswer) | undefined,
  work: (host: AgentHost) => Promise<T>,
): Promise<T> {
  const store = await openStore(url);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { note: { type: 'string' } } },
    execute: ({ note }) => {
      paid.push(String(note));
      return `paid ${note}`;
    },
  });
  const host = createHost({
    app: 'interop',
    agents: [new LlmAgent({ name: 'agent', model })],
    tools: [pay],
    store,
    warn: () => {},
    ...(onApproval ? { onApproval } : {}),
  });
  try {
    return await work(host);
  } finally {
    await host.close();
    await store.close();
  }
}

async function heard(stream: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Waits for a server that was just started. @throws what it said last */
export async function answering(url: string): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(100)) {
    try {
      const store = await openStore(url);
      await store.close();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

const yes = (): RequestAnswer => ({ kind: 'approve' });

/** One database by its URL: what is written by one store is read by another one. */
export async function tryStore({ check }: Pick<Trial, 'check'>, url: string): Promise<void> {
  // The database may hold what was tried before.
  const run = randomUUID();
  const open = (host: AgentHost, name: string) => host.open('agent', { sessionId: `${run}-${name}`, create: true });
  await check('a turn, with odd characters, is read by another store as it was written', async () => {
    const paid: string[] = [];
    const written = await at(url, paid, yes, async (host) => heard((await open(host, 'a')).stream(ODD)));
    hold(paid.length === 1 && paid[0] === ODD, `paid ${paid.length} times`);
    const read = await at(url, paid, yes, async (host) =>
      JSON.stringify(await heard((await open(host, 'a')).events())),
    );
    const stored = written.filter(({ seq, type }) => seq !== undefined && type !== 'stream_end');
    const lost = stored.filter((event) => !read.includes(event.id));
    hold(stored.length > 3 && lost.length === 0, `${lost.length} of ${stored.length} are not there`);
    hold(read.includes(JSON.stringify(ODD).slice(1, -1)), 'the text is another one');
    return '';
  });
  await check('a question is answered elsewhere, and its call runs once', async () => {
    const paid: string[] = [];
    await at(url, paid, undefined, async (host) => heard((await open(host, 'b')).stream('go')));
    hold(paid.length === 0, 'it ran unasked');
    await at(url, paid, undefined, async (host) => {
      const session = await open(host, 'b');
      const asked = (await host.approvals.list()).find(({ request }) => request.sessionId === session.id);
      hold(asked !== undefined, 'there is no question');
      await host.approvals.decide(asked?.request.requestId ?? '', yes(), { by: { id: 'local' } });
      // It goes on by itself.
      for await (const event of session.events({ live: true })) {
        if (event.type === 'stream_end' && event.reason === 'completed') break;
      }
    });
    hold(paid.length === 1, `paid ${paid.length} times`);
    return '';
  });
  await check('forty turns at a time are all kept', async () => {
    const names = Array.from({ length: 40 }, (_, place) => String(place));
    await at(url, [], yes, (host) =>
      Promise.all(names.map(async (name) => heard((await open(host, name)).stream('go')))),
    );
    await at(url, [], yes, async (host) => {
      for (const name of names) {
        const events = await heard((await open(host, name)).events());
        const isThere = events.some(({ type }) => type === 'tool_response');
        hold(isThere, `${name} has ${events.length} events`);
      }
    });
    return '';
  });
}
