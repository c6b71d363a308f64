import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { randomFrom } from '../adapters/kill.ts';
import type { Acknowledged } from './check-history.ts';
import { faultsOf } from './check-history.ts';
import { cluster } from './cluster.ts';
import { ownRestate } from './dispatchers.ts';
import { canHaveNats, ownNats, ownPostgres } from './parts.ts';

/** What may go wrong with what nodes stand on. */
export const faults = ['cut', 'restart', 'crash', 'full', 'read-only', 'nats', 'restate'] as const;
export type Fault = (typeof faults)[number];

export interface FaultOptions {
  nodes: number;
  seed: number;
  /** One after the other. */
  plan: readonly Fault[];
  /** Turns that are begun at a time. */
  submitted?: number;
  /** Restate brings the turns, not PostgreSQL. */
  restate?: boolean;
  log?: (line: string) => void;
}

/** Milliseconds in which everything has to be well again, and in which what the test has opened has to be closed. */
const HEALED_MS = 120_000;
const CLOSED_MS = 30_000;

/** What is told of a fault: some line of some node has this, or what one who submits is refused with. */
const told: Record<Fault, RegExp> = {
  cut: /warn .*(does not answer|lost|terminat|away|connection|Connection)/,
  restart: /warn .*(does not answer|lost|terminat|away|connection|Connection|shut)/,
  crash: /warn .*(does not answer|lost|terminat|away|connection|Connection|shut|recovery)/,
  full: /warn .*(E_STORE_FULL|full|No space|could not extend)/,
  'read-only': /warn .*(read-only|E_STORE_READ_ONLY)/,
  nats: /warn .*NATS is away/,
  // Who submits meanwhile is refused; where nobody does, the looks of the nodes say it.
  restate: /E_DISPATCHER|warn .*Restate does not answer/,
};

/**
 * Nodes, one of them with a clock that is ten minutes late, over a PostgreSQL, a NATS and a Restate that fail one after the other
 * while turns run. Each fault is reported and healed; afterwards every acknowledged turn is in the log once, and has ended.
 */
export async function faultNodes({ nodes: count, seed, plan, submitted = 4, restate, log = () => {} }: FaultOptions) {
  const random = randomFrom(seed);
  const server = await ownPostgres();
  const nats = canHaveNats ? await ownNats() : undefined;
  const bringing = restate ? await ownRestate() : undefined;
  const nodes = await cluster(server.database, bringing?.word ?? 'queue', seed, bringing?.behind);
  const refused: string[] = [];
  const messages: { session: string; words: string }[] = [];
  const healed: { fault: Fault; ms: number }[] = [];
  let isOver = false;
  let failed: unknown;
  try {
    const bus = nats ? { bus: nats.url } : {};
    await Promise.all(
      Array.from({ length: count }, (_, n) => nodes.start({ ...bus, ...(n === 0 ? { skewMs: -600_000 } : {}) })),
    );
    const host = await nodes.outside();
    const load = [...Array.from({ length: submitted }, () => submits(host)), approves(host)].map((work) =>
      work.catch((error: unknown) => {
        failed ??= error;
        isOver = true;
      }),
    );
    for (const fault of plan) {
      if ((fault === 'full' && !server.hasDisk) || (fault === 'nats' && !nats) || (fault === 'restate' && !bringing)) {
        log(`${fault}: left out, it cannot be made here`);
        continue;
      }
      await sleep(300 + random(700));
      if (failed !== undefined) break;
      const lines = nodes.nodes.map(({ said }) => said.length);
      const refusals = refused.length;
      const begun = performance.now();
      const saidSince = () => [
        ...nodes.nodes.flatMap(({ said: all }, n) => all.slice(lines[n])),
        ...refused.slice(refusals),
      ];
      await inject(fault, () => saidSince().some((line) => told[fault].test(line)));
      // What was begun before has ended, and so has what is begun now.
      await progress(messages.length);
      const said = saidSince();
      assert(
        said.some((line) => told[fault].test(line)),
        `seed ${seed}: nobody has reported ${fault}:\n${said.join('\n')}`,
      );
      for (const { pid } of nodes.nodes) process.kill(pid, 0);
      const ms = Math.round(performance.now() - begun);
      healed.push({ fault, ms });
      log(`${fault}: reported, and healed ${ms} ms after it began`);
    }
    isOver = true;
    await Promise.all(load);
    if (failed !== undefined) throw failed;
    await allEnded();
    const wrong = await faultsOf(server.database.query, { messages } satisfies Acknowledged);
    assert.deepEqual(wrong, [], `seed ${seed}`);
    return { turns: messages.length, healed };
  } catch (error) {
    for (const { pid, said } of nodes.nodes) log(`node ${pid}:\n${said.slice(-20).join('\n')}`);
    throw error;
  } finally {
    isOver = true;
    // What does not close is reported, and hides nothing that was thrown before.
    for (const [what, close] of Object.entries({
      nodes: nodes.close,
      nats: async () => nats?.kill(),
      restate: async () => bringing?.close(),
      postgres: server.close,
    })) {
      await within(close(), `${what}: not closed`, CLOSED_MS).catch((error: unknown) => log(String(error)));
    }
  }

  async function allEnded(): Promise<void> {
    const deadline = performance.now() + HEALED_MS;
    for (let open = await nodes.open(); open.length > 0; open = await nodes.open()) {
      assert(performance.now() < deadline, `seed ${seed}: turns are stuck: ${open.join(', ')}`);
      await sleep(100);
    }
  }

  /** It lasts until a node has said something of it, and a little longer. */
  async function inject(fault: Fault, isTold: () => boolean): Promise<void> {
    const lasts = async () => {
      for (const deadline = performance.now() + HEALED_MS; !isTold() && performance.now() < deadline; ) await sleep(50);
      await sleep(random(1000));
    };
    switch (fault) {
      case 'cut':
        for (let n = 0; n < 5; n++) {
          await server.cut();
          await sleep(random(300));
        }
        return;
      case 'restart':
        return server.restart('SIGINT');
      case 'crash':
        return server.restart('SIGQUIT');
      case 'full': {
        // What was deleted has left room in the files of the tables: without it each page that is begun needs the disk.
        await server.database.query('VACUUM FULL adk_events');
        const free = server.fill();
        await lasts();
        return free();
      }
      case 'read-only': {
        const writable = await server.freeze();
        await lasts();
        return writable();
      }
      case 'nats':
        await nats?.kill();
        await lasts();
        return nats?.start();
      case 'restate':
        await bringing?.kill();
        await lasts();
        return bringing?.start();
    }
  }

  /** Turns that nobody holds, one after the other. One whose beginning was refused may be stored: it is not counted. */
  async function submits(host: AgentHost): Promise<void> {
    while (!isOver) {
      try {
        const turn = await nodes.submit(host);
        messages.push(turn);
        await within(nodes.ended(turn.session), `${turn.session} is stuck`);
      } catch (error) {
        if (!isCoxswainError(error) && !isOfDatabase(error)) throw error;
        refused.push(`warn refused: ${isCoxswainError(error) ? error.code : ''} ${String(error)}`);
        await sleep(100);
      }
    }
  }

  async function approves(host: AgentHost): Promise<void> {
    const by = { id: 'boss', roles: ['boss'] };
    let deadline = Number.POSITIVE_INFINITY;
    for (;;) {
      const open = await nodes.open().catch(() => ['one that the database does not tell']);
      if (isOver && open.length === 0) return;
      if (isOver) deadline = Math.min(deadline, performance.now() + HEALED_MS);
      assert(performance.now() < deadline, `seed ${seed}: turns are still open: ${open.join(', ')}`);
      try {
        for (const { request, userId } of await host.approvals.list()) {
          await host.approvals.decide(
            request.requestId,
            { kind: 'approve' },
            { by, sessionId: request.sessionId, userId },
          );
        }
      } catch (error) {
        if (!isCoxswainError(error) && !isOfDatabase(error)) throw error;
      }
      await sleep(100);
    }
  }

  async function progress(before: number): Promise<void> {
    const deadline = performance.now() + HEALED_MS;
    while (failed === undefined && messages.length < before + submitted + 1) {
      assert(performance.now() < deadline, `seed ${seed}: no turn has begun since, ${messages.length} before`);
      await sleep(50);
    }
  }

  async function within(work: Promise<unknown>, what: string, ms = HEALED_MS): Promise<void> {
    const controller = new AbortController();
    try {
      const late = sleep(ms, 'late', { signal: controller.signal }).catch(() => 'late');
      assert((await Promise.race([work.then(() => 'done'), late])) === 'done', `seed ${seed}: ${what}`);
    } finally {
      controller.abort();
    }
  }
}

/** The test's own look into a database that is away. */
function isOfDatabase(error: unknown): boolean {
  return /ECONN|terminat|shut|starting up|recovery|Connection|No space|read-only|timeout/i.test(String(error));
}
