import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../src/adapters/stores/sqlite.ts';
import type { Model, ProvidedTool, SessionService } from '../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../src/index.ts';
import { Chain, createEvent, InMemorySessionService, LiveSession } from '../src/runtime/index.ts';
import { eventOf } from './log.ts';

/** Work whose cost is looked at while its number grows. */
export interface Growing {
  /** What there are n of. */
  readonly unit: string;
  readonly sizes: readonly number[];
  /** What the work needs, and what is not counted; the work, and what is done after it. */
  prepare?(size: number): Promise<{ run(): Promise<void>; end(): Promise<void> }>;
  run?(size: number): Promise<void>;
  /** CPU milliseconds of the main thread that a piece of the largest takes at most. */
  readonly pieceMs?: number;
}

/** A stored log of turns of four events each. */
async function forking(size: number, open: (folder: string) => SessionService) {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-fork-'));
  const sessions = open(folder);
  const { key } = await sessions.create({ app: 'growth', userId: 'local', id: 's' });
  const chain = new Chain();
  for (let at = 0; at < size; at += 1000) {
    const page = Array.from({ length: Math.min(1000, size - at) }, (_, n) => eventOf(at + n));
    // Ids as they are in a log that was written by runs: each lies elsewhere in the index.
    const events = chain.link(page.map((event) => ({ ...event, id: crypto.randomUUID() })));
    for (const event of await sessions.append(key, events)) chain.see(event);
  }
  return {
    async run() {
      const { lastSeq } = await sessions.fork(key, { id: 'copy' });
      if (lastSeq !== size) throw new Error(`${lastSeq} of ${size} events are there`);
    },
    async end() {
      await sessions.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const DELTAS = 20;

const says: Model = {
  name: 'says',
  async *generate() {
    for (let n = 0; n < DELTAS; n++)
      yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'word ' }] } };
    yield { content: { role: 'model', parts: [{ type: 'text', text: 'word '.repeat(DELTAS) }] }, turnComplete: true };
  },
};

const hostOf = (options: Partial<Parameters<typeof createHost>[0]> = {}) =>
  createHost({ app: 'growth', agents: [new LlmAgent({ name: 'a', model: says })], policy: allowAll(), ...options });

async function play(session: Awaited<ReturnType<ReturnType<typeof createHost>['open']>>): Promise<void> {
  for await (const event of session.stream('go')) {
    if (event.type === 'stream_end' && event.reason !== 'completed') throw new Error(JSON.stringify(event));
  }
}

/** By the name of the row. */
export const growing: Readonly<Record<string, Growing>> = {
  events: {
    unit: 'events, appended one by one to one session and folded',
    sizes: [5000, 10000, 20000, 40000],
    async run(size) {
      const sessions = new InMemorySessionService({ chained: true });
      const { key } = await sessions.create({ app: 'growth', userId: 'ann' });
      const live = await LiveSession.open(sessions, key);
      for (let n = 0; n < size; n++) {
        const actions = n % 3 === 0 ? { turn: { start: 'a' }, stateDelta: { n } } : {};
        const content = {
          role: n % 3 === 0 ? ('user' as const) : ('model' as const),
          parts: [{ type: 'text' as const, text: 'words' }],
        };
        await live.append([
          createEvent({ author: n % 3 === 0 ? 'user' : 'a', turnId: `t${n - (n % 3)}`, content, actions }),
        ]);
      }
      if (live.at !== size) throw new Error(`${live.at} of ${size} events are there`);
    },
  },
  fork: {
    unit: 'events of a session in a SQLite file that is forked',
    sizes: [12500, 25000, 50000, 100000],
    pieceMs: 10,
    prepare: (size) => forking(size, (folder) => openSqlite(join(folder, 'log.db'))),
  },
  memfork: {
    unit: 'events of a session in memory that is forked',
    sizes: [12500, 25000, 50000, 100000],
    pieceMs: 10,
    prepare: (size) => forking(size, () => new InMemorySessionService()),
  },
  turns: {
    unit: 'turns, one after the other in one session',
    sizes: [250, 500, 1000, 2000],
    async run(size) {
      const host = hostOf();
      const session = await host.open('a');
      for (let n = 0; n < size; n++) await play(session);
      await host.close();
    },
  },
  sessions: {
    unit: 'sessions of one turn, all open',
    sizes: [250, 500, 1000, 2000],
    async run(size) {
      const host = hostOf();
      const open = [];
      for (let n = 0; n < size; n++) {
        const session = await host.open('a');
        open.push(session);
        await play(session);
      }
      await host.close();
    },
  },
  observers: {
    unit: 'observers of one session, each of whom is shown one turn',
    sizes: [800, 1600, 3200, 6400],
    async run(size) {
      const host = hostOf();
      const session = await host.open('a');
      const watching = Array.from({ length: size }, async () => {
        for await (const event of session.events({ live: true }))
          if (event.type === 'message' && event.role === 'agent') return;
        throw new Error('the answer was not shown');
      });
      await play(session);
      await Promise.all(watching);
      await host.close();
    },
  },
  tools: {
    unit: 'tools of a host, offered to 20 sessions of one turn',
    sizes: [125, 250, 500, 1000],
    async run(size) {
      const inputSchema = { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } } };
      const tools = Array.from({ length: size }, (_, n) =>
        defineTool({ name: `tool_${n}`, description: `does ${n}`, inputSchema, execute: () => n }),
      );
      const host = hostOf({ tools });
      for (let n = 0; n < 20; n++) await play(await host.open('a'));
      await host.close();
    },
  },
  provided: {
    unit: 'tools of a provider, offered to 20 sessions of one turn',
    sizes: [125, 250, 500, 1000],
    async run(size) {
      const given = Array.from(
        { length: size },
        (_, n): ProvidedTool => ({
          name: `tool_${n}`,
          description: `does ${n}`,
          inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
        }),
      );
      const toolProviders = [{ name: 'many', getToolsForAgent: () => given, execute: async () => 1 }];
      const host = hostOf({ toolProviders });
      for (let n = 0; n < 20; n++) await play(await host.open('a'));
      await host.close();
    },
  },
};
