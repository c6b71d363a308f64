import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { connect } from '../../src/adapters/remote/index.ts';
import { exportSession, importSession } from '../../src/adapters/stores/common/index.ts';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import type { AnyAgentTool, AnyTool } from '../../src/index.ts';
import { createHost, InMemorySessionService, LlmAgent, rulePolicy } from '../../src/index.ts';
import type { SessionService, StoredEvent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { agentTools, drive, eventOf, Frames, hostTools, rules, script } from './scenario.ts';

// What commit a68aa3b wrote when it ran `drive` of scenario.ts over a SQLite file: the frames that its server sent, the
// rows that it stored, and one session as it exported it (version 1). It spoke protocol 1, as today's code does.

const recorded = (name: string) => readFileSync(join(import.meta.dirname, 'recorded', name), 'utf8');
const linesOf = (name: string) => recorded(name).trimEnd().split('\n');
type Frame = Record<string, unknown> & { id?: number; method?: string; result?: unknown };
const framesOf = (name: string) => linesOf(name).map((line) => JSON.parse(line) as Frame);

const scope = { app: 'shop', userId: 'ann' };
const key = { ...scope, id: 'recorded' };

/** A SQLite file with the rows as they were stored. */
function olderFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'older-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'sessions.db');
  const database = new DatabaseSync(path);
  database.exec(recorded('sessions.sql'));
  database.close();
  return path;
}

/** Today's store over these rows. */
function olderStore(path = olderFile()) {
  const store = openSqlite(path);
  onTestFinished(() => store.close());
  return store;
}

function hostOver(sessions: SessionService, model = new ScriptedModel()) {
  const runs: unknown[] = [];
  const tools = hostTools.map((tool) => ({
    ...tool,
    execute: (args: unknown, context: never) => {
      runs.push([tool.name, args]);
      return tool.execute(args, context);
    },
  }));
  const agent = new LlmAgent({
    name: 'bot',
    description: 'Pays',
    model,
    tools: agentTools as unknown as AnyAgentTool[],
  });
  const host = createHost({
    ...{ app: 'shop', agents: [agent], tools: tools as unknown as AnyTool[], store: sessions },
    policy: rulePolicy(rules as never),
  });
  onTestFinished(() => host.close());
  return { host, runs };
}

async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

/** Rows of a table, with the columns that the older code knew. */
function rowsOf(path: string, table: string, columns: readonly string[]): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare(`SELECT ${columns.join(', ')} FROM ${table} WHERE session_id = 'recorded'`).all();
  database.close();
  return rows;
}

function columnsOf(path: string, table: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
  database.close();
  return columns.map(({ name }) => String(name));
}

describe('frames of an older server', () => {
  /** Methods of the requests that `drive` made, in their order. */
  const asked = [
    ...['initialize', 'session/open', 'session/stream', 'session/pending', 'session/respond', 'session/stream'],
    ...['session/pending', 'session/stream', 'session/pending', 'session/respond', 'session/stream'],
    ...['session/pending', 'session/stream', 'session/pending', 'session/open', 'session/stream', 'session/pending'],
  ];

  /** Sends what was recorded for each request: all up to its answer, and of a stream all up to its end. */
  async function replaying(): Promise<string> {
    const server = new WebSocketServer({ port: 0, handleProtocols: () => 'coxswain.v1' });
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const frames = framesOf('frames.ndjson');
    server.on('connection', (socket) => {
      let answers = 0;
      socket.on('message', (data) => {
        const { id, method } = JSON.parse(String(data)) as Frame;
        if (method !== asked[answers]) return;
        answers++;
        let isOver = false;
        while (!isOver && frames[0]) {
          const frame = frames.shift() as Frame;
          const isAnswer = frame.id !== undefined;
          socket.send(JSON.stringify(isAnswer ? { ...frame, id } : frame));
          isOver = method === 'session/stream' ? eventOf(frame)?.type === 'stream_end' : isAnswer;
        }
      });
    });
    const { port } = server.address() as { port: number };
    return `ws://127.0.0.1:${port}/v1`;
  }

  test('are read by today’s client: each event as it was sent, deltas included', async () => {
    const remote = await connect(await replaying(), { token: 'ann:boss' });
    onTestFinished(() => remote.close());
    const session = await remote.open('bot', { sessionId: 'recorded', create: true });
    // That a stream begins the client says by itself.
    const shown = async (of: AgentSession, n: number, input: Parameters<AgentSession['stream']>[0]) =>
      (await collected(of.stream(input, { streamId: `stream-${n}` }))).filter(({ type }) => type !== 'initialize');
    const sent = (n: number) =>
      framesOf('frames.ndjson').flatMap((frame) => {
        const event = eventOf(frame);
        return event?.streamId === `stream-${n}` && event.type !== 'initialize' ? [event] : [];
      });
    expect(await shown(session, 1, 'Pay Ann')).toEqual(sent(1));
    const [money] = await session.pending();
    expect(money?.approval).toMatchObject({ approvers: { roles: ['boss'] }, reason: 'it is money' });
    const approve = { kind: 'approve', previewDigest: money?.approval?.previewDigest ?? '' } as const;
    expect(await session.respond(money?.requestId ?? '', approve)).toMatchObject({ status: 'settled', by: 'ann' });
    expect(await shown(session, 2, { kind: 'continue' })).toEqual(sent(2));
    expect(await session.pending()).toEqual([]);
    expect(await shown(session, 3, 'Sure?')).toEqual(sent(3));
    const [sure] = await session.pending();
    expect(sure).toMatchObject({ elicitation: 'tool_confirmation', context: { payload: { n: 1 } } });
    await session.respond(sure?.requestId ?? '', { kind: 'elicitation', action: 'decline' });
    expect(await shown(session, 4, { kind: 'continue' })).toEqual(sent(4));
    expect(await session.pending()).toEqual([]);
    expect(await shown(session, 5, 'Thanks')).toEqual(sent(5));
    expect(sent(1).length).toBeGreaterThan(20);
    expect(sent(5).at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  });
});

describe('requests of an older client', () => {
  /** Every member that frames have, by the kind of message and event; of what is an agent's own JSON, its place alone. */
  function members(texts: readonly string[]): Set<string> {
    const found = new Set<string>();
    const walk = (value: unknown, at: string): void => {
      found.add(at);
      if (/\.(?:args|structuredContent|stateDelta|payload|inputSchema)$/.test(at)) return;
      if (Array.isArray(value)) for (const item of value) walk(item, `${at}[]`);
      else if (typeof value === 'object' && value !== null) {
        const kind = 'type' in value ? `<${String(value.type)}>` : '';
        for (const [name, inner] of Object.entries(value)) walk(inner, `${at}${kind}.${name}`);
      }
    };
    for (const text of texts) {
      const frame = JSON.parse(text) as Frame;
      walk(frame, frame.method ?? 'answer');
    }
    return found;
  }

  test('are taken by today’s server, which still says all that the older one said', async () => {
    const { host, runs } = hostOver(new InMemorySessionService(), new ScriptedModel(script as never));
    const authenticate = () => ({ id: 'ann', roles: ['boss'] });
    const server = await serve(host, { authenticate });
    onTestFinished(() => server.close({ deadlineMs: 0 }));
    const { frames, later } = await drive(server.url);
    expect(runs).toEqual([
      ['look', { at: 'ann' }],
      ['pay', { to: 'ann', eur: 5 }],
    ]);
    const before = members([...linesOf('frames.ndjson'), ...linesOf('later.ndjson')]);
    const now = members([...frames, ...later]);
    expect(before.size).toBeGreaterThan(200);
    // The runtime recorded what its host had decided once more, with what its own policy would have been asked with.
    const twice = 'session/event.params.event<custom>.data.asked.usage';
    expect([...before].filter((member) => !now.has(member))).toEqual([twice, `${twice}.calls`]);
  });
});

/** Without what is made of the same rows since: the name of who has answered. */
const asThen = (text: string) => text.replaceAll(/,"byName":"[^"]*"/g, '');

describe('rows of an older store', () => {
  test('are shown by today’s server in the very bytes in which the older one showed them', async () => {
    const { host } = hostOver(olderStore());
    const server = await serve(host, { authenticate: () => ({ id: 'ann', roles: ['boss'] }) });
    onTestFinished(() => server.close({ deadlineMs: 0 }));
    const frames = await Frames.open(server.url, 'ann:boss');
    onTestFinished(() => frames.close());
    await frames.ask('initialize', { protocolVersion: '1' });
    await frames.ask('session/attach', { agent: 'bot', sessionId: 'recorded', control: false });
    await frames.until(({ method }) => method === 'session/live');
    await frames.ask('session/events', { sessionId: 'recorded', limit: 3 });
    const before = linesOf('later.ndjson');
    // What a server calls itself, its epochs and who is in control are its own.
    const epoch = (texts: readonly string[]) => /"epoch":"([^"]+)"/.exec(texts.join('\n'))?.[1] ?? '';
    const [then, now] = [epoch(before), epoch(frames.texts)];
    const history = (texts: readonly string[], own: string) =>
      texts.filter((text) => eventOf(JSON.parse(text) as Frame)).map((text) => asThen(text.replace(own, 'EPOCH')));
    expect(history(before, then).length).toBeGreaterThan(25);
    expect(history(frames.texts, now)).toEqual(history(before, then));
    expect(frames.texts.at(-1)).toBe(before.at(-1));
  });

  test('are stored again in the very bytes in which they were stored', async () => {
    const path = olderFile();
    const columns = columnsOf(path, 'adk_events');
    const before = rowsOf(path, 'adk_events', columns);
    expect(before).toHaveLength(26);
    const record = await olderStore(path).get(key);
    const anew = join(path, '..', 'anew.db');
    const store = openSqlite(anew);
    onTestFinished(() => store.close());
    await store.create(key, { state: {} });
    await store.append(key, record?.events ?? []);
    expect(rowsOf(anew, 'adk_events', columns)).toEqual(before);
  });

  test('keep their chain of hashes, and what their events say', async () => {
    const record = await olderStore().get(key);
    expect(record?.state).toEqual({ noted: 'ann' });
    const { host } = hostOver(olderStore());
    const session = await host.open('bot', { sessionId: 'recorded', userId: 'ann' });
    const events: AgentEvent[] = await collected(session.events());
    const sent = framesOf('frames.ndjson').flatMap((frame) => {
      const event = eventOf(frame);
      return event?.cursor !== undefined && event.sessionId === 'recorded' ? [event] : [];
    });
    expect(events.map((event) => JSON.parse(asThen(JSON.stringify(event))))).toEqual(sent);
  });

  test('have a question that somebody answers today: its call runs once, and the turn goes on', async () => {
    const model = new ScriptedModel(['Paid bob.', 'Any time.']);
    const { host, runs } = hostOver(olderStore(), model);
    const [open, ...more] = await host.approvals.list();
    expect(more).toEqual([]);
    expect(open?.request).toMatchObject({ sessionId: 'waiting', name: 'pay', args: { to: 'bob', eur: 7 } });
    const ann = { id: 'ann', roles: ['boss'] };
    const requestId = open?.request.requestId ?? '';
    await expect(host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'ann' } })).rejects.toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    expect(await host.approvals.decide(requestId, { kind: 'approve' }, { by: ann })).toMatchObject({
      status: 'settled',
    });
    await host.idle();
    expect(runs).toEqual([['pay', { to: 'bob', eur: 7 }]]);
    const session = await host.open('bot', { sessionId: 'waiting', userId: 'ann' });
    expect(await session.pending()).toEqual([]);
    expect((await collected(session.stream('Thanks'))).at(-1)).toMatchObject({ reason: 'completed' });
    model.assertUsedUp();
  });
});

describe('a session that was exported by an older version', () => {
  test('is imported, and says what its rows say', async () => {
    const events = (await olderStore().get(key))?.events;
    for (const store of [new InMemorySessionService(), openSqlite(':memory:')]) {
      const made = await importSession(store, scope, linesOf('exchange.ndjson'), { sameId: true });
      expect(made.key).toEqual(key);
      expect((await store.get(key))?.events).toEqual(events as StoredEvent[]);
    }
  });

  test('is exported again by today’s version, which reads that too', async () => {
    const first = new InMemorySessionService();
    await importSession(first, scope, linesOf('exchange.ndjson'), { sameId: true });
    const lines = await collected(exportSession(first, key));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'coxswain.session', version: 2, key, lastSeq: 26 });
    const second = new InMemorySessionService();
    await importSession(second, scope, lines, { sameId: true });
    expect((await second.get(key))?.events).toEqual((await first.get(key))?.events);
    // When it was made is each store's own.
    const [header, ...rest] = await collected(exportSession(second, key));
    expect(rest).toEqual(lines.slice(1));
    expect({ ...JSON.parse(header ?? ''), createdAt: 0 }).toEqual({ ...JSON.parse(lines[0] ?? ''), createdAt: 0 });
  });
});
