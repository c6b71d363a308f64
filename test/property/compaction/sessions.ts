import type { AgentEvent, Content, Session } from '../../../src/contracts/index.ts';
import type { Model, ModelRequest, SessionService } from '../../../src/index.ts';
import { createHost, defineTool, InMemorySessionService, LlmAgent, run } from '../../../src/index.ts';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import type { Random } from '../replay/random.ts';
import { below, hash, randomOf } from '../replay/random.ts';
import type { Sight } from './squeeze.ts';
import { inOrder } from './squeeze.ts';

export const at = { app: 'property', userId: 'ann', id: 's' };
const ids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** JSON with the ids in it named by their order. */
export function named(value: unknown): string {
  const seen = new Map<string, string>();
  return JSON.stringify(value).replace(ids, (id) => {
    const name = seen.get(id) ?? `id${seen.size}`;
    seen.set(id, name);
    return name;
  });
}

/** A long session of one agent: what its user says, its model answers and its tools give is a matter of the seed alone. */
export interface Played {
  store: SessionService;
  /** Of all turns, as anybody sees them, without what is said of compactions. */
  events: AgentEvent[];
  requests: readonly Content[][];
  log: readonly StoredEvent[];
  state: string;
  pending: string;
}

interface Options {
  seed: number;
  seen: Sight;
  isCompacted: boolean;
  store?: SessionService;
  /** Contents of each request, as they were. */
  requests?: Content[][];
}

export function openHost({ seed, seen, isCompacted, store = new InMemorySessionService(), requests = [] }: Options) {
  const random = randomOf(seed * 31);
  const compaction = {
    window: 300 + below(random, 4000),
    keep: 1 + below(random, 5),
    at: 0.3 + 0.7 * random(),
  };
  const tools = ['look', 'ask'].map((name) =>
    defineTool({
      name,
      description: name,
      inputSchema: { type: 'object' },
      annotations: { readOnly: true },
      execute: (given) => {
        const { n } = given as { n: string };
        return `${n} ${'x '.repeat([5, 100, 1000, 20_000][hash(`${seed} ${n}`) % 4] ?? 0)}`;
      },
    }),
  );
  const agent = new LlmAgent({
    name: 'bot',
    model: scriptOf(seed, seen, requests),
    compaction: isCompacted ? compaction : false,
    outputKey: 'said',
  });
  const host = createHost({
    app: at.app,
    userId: at.userId,
    agents: [agent],
    tools,
    store,
    policy: { evaluate: ({ action }) => ({ outcome: action === 'ask' ? 'ask' : 'allow' }) },
    warn: (message) => message.includes('was not summed up') || seen.faults.push(message),
  });
  return { host, store, requests };
}

/** What it says depends on the words of the turn and on the step alone. */
function scriptOf(seed: number, seen: Sight, requests: Content[][]): Model {
  let words = '';
  let step = 0;
  return {
    name: 'script',
    async *generate({ contents, purpose }: ModelRequest) {
      inOrder(contents, seen);
      if (purpose === 'compaction') {
        seen.summaries++;
        const text = hash(named(contents)) % 5 === 0 ? 'long '.repeat(5000) : `A summary, the ${seen.summaries}th.`;
        yield { content: { role: 'model', parts: [{ type: 'text', text }] }, finishReason: 'stop' };
        return;
      }
      requests.push(structuredClone(contents) as Content[]);
      const said = contents.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
      const last = said.findLast((text) => /^turn \d+/.test(text)) ?? '';
      if (last !== words) [words, step] = [last, 0];
      const random = randomOf(hash(`${seed} ${words.slice(0, 8)} ${step++}`));
      const calls = random() < 0.6 && step < 6 ? 1 + below(random, 3) : 0;
      const name = (n: number) => (/asks/.test(words) && step === 1 && n === 0 ? 'ask' : 'look');
      const parts = Array.from({ length: /asks/.test(words) && step === 1 ? 1 : calls }, (_, n) => ({
        type: 'function_call' as const,
        id: '',
        name: name(n),
        args: { n: `${words.slice(0, 8)} ${step} ${n}` },
      }));
      const text = { type: 'text' as const, text: `said ${step} ${'y '.repeat(below(random, 300))}` };
      const tokens = [undefined, { inputTokens: 200 }, { inputTokens: 3000 }, { inputTokens: 100_000 }][
        below(random, 4)
      ];
      yield {
        content: { role: 'model', parts: [text, ...parts] },
        finishReason: parts.length > 0 ? 'tool_calls' : 'stop',
        ...(tokens ? { usage: { ...tokens, outputTokens: 10 } } : {}),
      };
    },
  };
}

export const wordsOf = (seed: number, turn: number): string =>
  `turn ${turn} ${'z '.repeat(below(randomOf(hash(`${seed} words ${turn}`)), 400))}`;

/** Plays turns; the question that one of them puts stays open while the others go on, and is answered before the last. */
export async function play(options: Options & { turns: number; asksIn?: number }): Promise<Played> {
  const { host, store, requests } = openHost(options);
  await using session = await host.open('bot', { sessionId: at.id, create: true });
  for (let turn = 0; turn < options.turns; turn++) {
    const asks = turn === options.asksIn;
    await run(session, asks ? `turn ${turn} asks` : wordsOf(options.seed, turn), { whilePending: 'proceed' });
    // By hand as well, whether or not there is anything to be left out.
    if (options.isCompacted && seeded(options.seed, `by hand ${turn}`)() < 0.2) await session.compact();
  }
  const pending = named((await session.pending()).map(({ kind, name, args }) => [kind, name, args]));
  for (const { requestId } of await session.pending()) await session.respond(requestId, 'approve');
  if (pending !== '[]') await run(session, `turn ${options.turns} last`, { whilePending: 'proceed' });
  return { store, requests, pending, ...(await readBack(session, store)) };
}

export async function readBack(session: Session, store: SessionService) {
  const events: AgentEvent[] = [];
  for await (const event of session.events()) {
    if (event.type !== 'custom' || event.kind !== 'compacted') events.push(event);
  }
  const record = await store.get(at);
  return { events, log: record?.events ?? [], state: named(record?.state) };
}

/** What an audit has of them: who did what, in which order, and what came of it. */
export const told = (events: readonly AgentEvent[]): string[] =>
  events.map((event) => {
    const { type, kind, role, parts, name, args, result, isError, reason, outcome } = event as unknown as Record<
      string,
      unknown
    >;
    return named([type, kind, role, parts, name, args, result, isError, reason, outcome]);
  });

const seeded = (seed: number, salt: string): Random => randomOf(hash(`${seed} ${salt}`));
