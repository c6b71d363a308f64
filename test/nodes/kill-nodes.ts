import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteSession } from '../../src/adapters/remote/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { newId } from '../../src/base/index.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { randomFrom } from '../adapters/kill.ts';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';
import { balancer } from './balancer.ts';
import type { Acknowledged } from './check-history.ts';
import { faultsOf, lateStart } from './check-history.ts';
import type { Behind } from './dispatchers.ts';
import { dispatcherOf } from './dispatchers.ts';
import { nodeHost, openWorld, results, worldTables } from './node-host.ts';

export const phases = ['model', 'tool', 'pause', 'append'] as const;
export const signals = ['SIGKILL', 'SIGSTOP'] as const;

/** A node is killed, and the next one is frozen while its successor starts. */
const every = phases.flatMap((phase) => signals.map((signal) => [phase, signal] as const));

export interface KillOptions {
  nodes: number;
  rounds: number;
  /** Milliseconds after which there are no more rounds. Default: none is left out. */
  mostMs?: number;
  /** Of each round, over and over. Default: each phase with each signal, which are as many rounds each. */
  plan?: readonly (readonly [phase: (typeof phases)[number], signal: (typeof signals)[number]])[];
  seed: number;
  /** Turns that are begun at a time without a client, and by clients. */
  submitted?: number;
  clients?: number;
  /** Between Restate and the nodes, where that brings their turns. */
  behind?: Behind;
  log?: (line: string) => void;
}

interface Node {
  child: Child;
  port: number;
  /** Where it listens to Restate. */
  calls: number | undefined;
}

interface Kill {
  signal: (typeof signals)[number];
  phase: (typeof phases)[number];
}

export interface Killed {
  kills: Kill[];
  /** Tools that a thawed node began after another one had taken its turn over and finished them. */
  late: number;
  turns: number;
  /** In milliseconds from the signal. */
  takeovers: (Kill & { ms: number })[];
}

/**
 * Nodes over one PostgreSQL, with a dispatcher that `word` names, run turns of clients and of nobody, and are killed or frozen in the middle of them, over and
 * over. Afterwards every turn has ended, and the history is what was acknowledged, once, in order.
 */
export async function killNodes(database: TestDatabase, word: string, options: KillOptions): Promise<Killed> {
  const {
    nodes: count,
    rounds,
    seed,
    submitted = 8,
    clients = 3,
    log = () => {},
    plan = every,
    behind,
    mostMs,
  } = options;
  const random = randomFrom(seed);
  const url = database.url as string;
  await (await database.open()).close();
  await database.query(worldTables);
  const front = await balancer();
  const world = await openWorld(url);
  const acknowledged: { session: string; words: string }[] = [];
  const takeovers: Killed['takeovers'] = [];
  const kills: Kill[] = [];
  let isOver = false;
  const start = async (): Promise<Node> => {
    const child = startChild('../nodes/node-child.ts', url, word, String(random(2 ** 31)));
    let calls: number | undefined;
    for (let line = await child.next(); line !== undefined; line = await child.next()) {
      if (line.startsWith('listens ')) {
        calls = Number(line.slice('listens '.length));
        behind?.add(calls);
      }
      if (!line.startsWith('ready ')) continue;
      const port = Number(line.slice('ready '.length));
      front.add(port);
      void told(child);
      return { child, port, calls };
    }
    throw new Error('a node did not start');
  };
  const told = async (child: Child) => {
    for (let line = await child.next(); line !== undefined; line = await child.next())
      log(`node ${child.pid}: ${line}`);
  };
  const nodes = await Promise.all(Array.from({ length: count }, start));
  /** The one in the place of the node that was killed last. */
  let successor = Promise.resolve();
  const dispatcher = await dispatcherOf(word, url, { warn: () => {} });
  const store = await database.open();
  const host = nodeHost(store, world, { dispatcher, warn: () => {} });
  try {
    const approving = approve();
    // It is awaited below, unless the rest has failed: its tables may go then while it looks at them.
    approving.catch(() => {});
    const load = Promise.all([
      ...Array.from({ length: submitted }, submits),
      ...Array.from({ length: clients }, (_, n) => client(n)),
    ]);
    const killing = async () => {
      const deadline = performance.now() + (mostMs ?? Number.POSITIVE_INFINITY);
      for (let round = 0; round < rounds && performance.now() < deadline; round++) {
        const [phase, signal] = plan[round % plan.length] ?? ['model', 'SIGKILL'];
        await kill(phase, signal);
        // Who has taken turns over begins to run them.
        await sleep(300 + random(700));
      }
      await successor;
      isOver = true;
    };
    // The first failure is shown at once: ending the nodes makes further ones.
    await Promise.all([load, killing()]).catch((error: unknown) => {
      log(`failed: ${error instanceof Error ? error.stack : String(error)}`);
      throw error;
    });
    await settled();
    await approving;
    const faults = await faultsOf(database.query, { messages: acknowledged, results } satisfies Acknowledged);
    if (faults.length > 0) log(await logsOf(faults));
    assert.deepEqual(faults, [], `seed ${seed}`);
    const [late] = await database.query(`SELECT count(*) AS n FROM effects WHERE ${lateStart}`);
    return { late: Number(late?.n), kills, turns: acknowledged.length, takeovers };
  } finally {
    isOver = true;
    await successor.catch(() => {});
    for (const { child } of nodes) {
      try {
        process.kill(child.pid, 'SIGCONT');
      } catch {
        // It is over already.
      }
      await child.kill();
    }
    await front.close();
    await host.close();
    await dispatcher.close();
    await world.end();
    await store.close();
  }

  /** Turns one after the other that nobody holds. */
  async function submits(): Promise<void> {
    while (!isOver) {
      const sessionId = `s-${newId()}`;
      const words = `order of ${sessionId}`;
      await host.submit('clerk', words, { sessionId, create: true, userId: 'ann' });
      acknowledged.push({ session: sessionId, words });
      await ended(sessionId);
    }
  }

  /** Turns of a client that talks to any node: what it was shown of one has every event once, in order. */
  async function client(n: number): Promise<void> {
    await using remote = await connect(`ws://127.0.0.1:${front.port}/v1`, {
      token: `client${n}`,
      minBackoffMs: 20,
      maxBackoffMs: 200,
      connectTimeoutMs: 2000,
    });
    while (!isOver) {
      const sessionId = `c-${newId()}`;
      const words = `order of ${sessionId}`;
      let session: RemoteSession | undefined;
      try {
        session = await remote.open('clerk', { sessionId, create: true });
        const seen: string[] = [];
        const places: number[] = [];
        for await (const { seq, cursor } of session.stream(words)) {
          if (cursor === undefined || seq === undefined) continue;
          seen.push(cursor);
          places.push(seq);
        }
        assert.deepEqual(seen, [...new Set(seen)], `seed ${seed}: ${sessionId} was shown an event twice`);
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
          `seed ${seed}: ${sessionId} was shown out of order`,
        );
        if (seen.length > 0) acknowledged.push({ session: sessionId, words });
      } catch (error) {
        // Its node has died: what was stored goes on.
        if (!isCoxswainError(error)) throw error;
        log(`client ${n}: ${error.code} ${error.message}`);
      }
      await ended(sessionId);
      // A connection holds so many sessions at most, and takes all of them up again at the next node.
      await session?.[Symbol.asyncDispose]();
    }
  }

  /** Whoever may decide says yes to everything, from a program that runs nothing. */
  async function approve(): Promise<void> {
    const by = { id: 'boss', roles: ['boss'] };
    while (!(isOver && (await openTurns()) === 0)) {
      for (const { request, userId } of await host.approvals.list().catch(() => [])) {
        const place = { sessionId: request.sessionId, userId };
        await host.approvals
          .decide(request.requestId, { kind: 'approve' }, { by, ...place })
          .catch((error: unknown) => {
            if (!isCoxswainError(error)) throw error;
          });
      }
      await sleep(50);
    }
  }

  /** The logs of the sessions that faults name, in short. */
  async function logsOf(faults: readonly string[]): Promise<string> {
    const rows = await database.query(
      `SELECT session_id, seq, author, left(content, 300) AS content, left(custom_metadata, 400) AS meta FROM adk_events
        ORDER BY session_id, seq`,
    );
    const named = rows.filter(({ session_id, content }) =>
      faults.some((fault) => fault.includes(String(session_id)) || idsIn(content).some((id) => fault.includes(id))),
    );
    const sessions = new Set(named.map(({ session_id }) => session_id));
    const shown = rows.filter(({ session_id }) => sessions.has(session_id));
    return shown.map((row) => JSON.stringify(row)).join('\n');
  }

  async function openTurns(sessionId?: string): Promise<number> {
    const of = sessionId === undefined ? '' : ` WHERE session_id = '${sessionId}'`;
    return Number((await database.query(`SELECT count(*) AS n FROM adk_open_turns${of}`))[0]?.n);
  }

  /** Resolves when no turn of the session is open: a stuck one is told by the test's own time. */
  async function ended(sessionId: string): Promise<void> {
    while ((await openTurns(sessionId)) > 0) await sleep(50);
  }

  async function settled(): Promise<void> {
    const deadline = performance.now() + 60_000;
    while ((await openTurns()) > 0) {
      assert(
        performance.now() < deadline,
        `seed ${seed}: turns are stuck: ${JSON.stringify(await database.query('SELECT * FROM adk_open_turns'))}`,
      );
      await sleep(100);
    }
    // An owner's mark goes with its lease.
    while (Number((await database.query('SELECT count(*) AS n FROM adk_sessions WHERE owner IS NOT NULL'))[0]?.n) > 0) {
      assert(performance.now() < deadline, `seed ${seed}: sessions are still held`);
      await sleep(100);
    }
  }

  /** Kills a node in this phase of a turn that it runs, and waits until its turns have other owners, or have ended. */
  async function kill(phase: Kill['phase'], signal: Kill['signal']): Promise<void> {
    // Whoever takes over is there already: what is measured is not the start of a program.
    if (signal === 'SIGKILL' || count < 3) await successor;
    const pid = await inPhase(phase);
    const index = nodes.findIndex(({ child }) => child.pid === pid);
    const victim = nodes[index];
    if (!victim) return kill(phase, signal);
    if (phase === 'append') await sleep(random(30));
    if (signal === 'SIGSTOP') await database.query(`INSERT INTO frozen VALUES (${pid}) ON CONFLICT DO NOTHING`);
    process.kill(pid, signal);
    kills.push({ phase, signal });
    const at = performance.now();
    front.drop(victim.port);
    if (victim.calls !== undefined) behind?.drop(victim.calls);
    const before = await database.query(`SELECT id, epoch FROM adk_sessions WHERE owner LIKE '%"pid":${pid},%'`);
    const left = new Map(before.map(({ id, epoch }) => [String(id), Number(epoch)]));
    const deadline = at + 45_000;
    while (left.size > 0) {
      const ids = [...left.keys()].map((id) => `'${id}'`).join(', ');
      for (const { id, epoch, owner } of await database.query(
        `SELECT id, epoch, owner FROM adk_sessions WHERE id IN (${ids})`,
      )) {
        const isTaken = Number(epoch) > (left.get(String(id)) ?? 0);
        // Its last append was on its way, and has given the lease back.
        if (!isTaken && owner !== null) continue;
        if (isTaken) takeovers.push({ signal, phase, ms: performance.now() - at });
        left.delete(String(id));
      }
      assert(
        performance.now() < deadline,
        `seed ${seed}: not taken over after ${signal} in ${phase}: ${[...left.keys()]}`,
      );
      await sleep(20);
    }
    log(`${signal} in ${phase}: ${before.length} turns taken over in ${Math.round(performance.now() - at)} ms`);
    if (signal === 'SIGSTOP') {
      // It goes on where it was: whatever it writes now is refused.
      process.kill(pid, 'SIGCONT');
      front.add(victim.port);
      if (victim.calls !== undefined) behind?.add(victim.calls);
    } else {
      await victim.child.kill();
      nodes.splice(index, 1);
      successor = start().then((node) => void nodes.push(node));
      // It is awaited before the next kill, unless the rest has failed.
      successor.catch(() => {});
    }
  }

  async function inPhase(phase: string): Promise<number> {
    const wanted = phase === 'append' ? 'model' : phase;
    const sql =
      wanted === 'pause'
        ? 'SELECT p.pid FROM phases p JOIN adk_open_calls c USING (session_id)'
        : `SELECT p.pid FROM phases p JOIN adk_open_turns t USING (session_id) WHERE p.phase = '${wanted}'`;
    for (;;) {
      const pids = (await database.query(sql)).map(({ pid }) => Number(pid));
      const alive = pids.filter((pid) => nodes.some(({ child }) => child.pid === pid));
      const pid = alive[random(Math.max(alive.length, 1))];
      if (pid !== undefined) return pid;
      await sleep(5);
    }
  }
}

const idsIn = (content: unknown): string[] => String(content).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];

/** The time that so many of a hundred do not exceed. */
export function percentile(times: readonly number[], percent: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0);
}
