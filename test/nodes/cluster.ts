import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/base/index.ts';
import type { AgentHost, HostOptions } from '../../src/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';
import type { Behind } from './dispatchers.ts';
import { dispatcherOf } from './dispatchers.ts';
import { nodeHost, openWorld, worldTables } from './node-host.ts';

export interface ClusterNode {
  readonly child: Child;
  readonly pid: number;
  readonly port: number;
  /** What it has said, each line. */
  readonly said: string[];
  /** Resolves when it has said this, or when it is over. */
  heard(part: string): Promise<boolean>;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
}

/** Of a program: which version of the agent it has, and what it does with turns of another one. */
export interface Version {
  version?: string;
  onAgentChanged?: NonNullable<HostOptions['onAgentChanged']>;
  /** URL of a NATS. */
  bus?: string;
  /** Milliseconds by which its clock is wrong. */
  skewMs?: number;
}

/**
 * Any number of node processes over one database, with the dispatcher that `word` names, and a program that runs nothing, to
 * submit and to decide. `behind`: what balances between Restate and the nodes.
 */
export async function cluster(database: TestDatabase, word: string, seed = 1, behind?: Behind) {
  const url = database.url as string;
  await (await database.open()).close();
  await database.query(worldTables);
  const world = await openWorld(url);
  const nodes: ClusterNode[] = [];
  const closers: (() => Promise<void>)[] = [];

  async function start({
    version = '1',
    onAgentChanged = 'ask',
    bus = '',
    skewMs = 0,
  }: Version = {}): Promise<ClusterNode> {
    const child = startChild(
      '../nodes/node-child.ts',
      url,
      word,
      String(seed + nodes.length),
      version,
      onAgentChanged,
      bus,
      String(skewMs),
    );
    const said: string[] = [];
    const waiting = new Set<() => void>();
    let isOver = false;
    const { promise: ready, resolve, reject } = Promise.withResolvers<number>();
    const over = (async () => {
      for (let line = await child.next(); line !== undefined; line = await child.next()) {
        said.push(line);
        if (line.startsWith('listens ')) behind?.add(Number(line.slice('listens '.length)));
        if (line.startsWith('ready ')) resolve(Number(line.slice('ready '.length)));
        for (const look of waiting) look();
      }
      isOver = true;
      for (const look of waiting) look();
      reject(new Error(`the node did not start: ${said.join('\n')}`));
    })();
    const heard = (part: string) => {
      const { promise, resolve: tell } = Promise.withResolvers<boolean>();
      const look = () => {
        const isSaid = said.some((line) => line.includes(part));
        if (!isSaid && !isOver) return;
        waiting.delete(look);
        tell(isSaid);
      };
      waiting.add(look);
      look();
      return promise;
    };
    const node = { child, pid: child.pid, port: await ready, said, heard, over };
    nodes.push(node);
    return node;
  }

  /** A host of this process, which takes no turns. */
  async function outside({ version = '1', onAgentChanged = 'ask' }: Version = {}): Promise<AgentHost> {
    const store = await database.open();
    const dispatcher = await dispatcherOf(word, url, { warn: () => {} });
    const host = nodeHost(store, world, { dispatcher, warn: () => {}, version, onAgentChanged });
    closers.push(async () => {
      await host.close();
      await dispatcher.close();
      await store.close();
    });
    return host;
  }

  /** A turn that nobody holds. */
  async function submit(host: AgentHost): Promise<{ session: string; words: string }> {
    const session = `s-${newId()}`;
    const words = `order of ${session}`;
    await host.submit('clerk', words, { sessionId: session, create: true, userId: 'ann' });
    return { session, words };
  }

  /** Somebody with the right to says yes to the open question of a session, once there is one that `host` shows. */
  async function approve(host: AgentHost, session: string): Promise<void> {
    const [question] = await until(async () => {
      const open = (await host.approvals.list()).filter(({ request }) => request.sessionId === session);
      return open.length > 0 ? open : undefined;
    });
    const by = { id: 'boss', roles: ['boss'] };
    const { requestId, approval } = question?.request ?? { requestId: '' };
    const previewDigest = approval?.previewDigest ?? '';
    await host.approvals.decide(
      requestId,
      { kind: 'approve', previewDigest },
      { by, sessionId: session, userId: 'ann' },
    );
  }

  const open = async (session: string) =>
    Number((await database.query(`SELECT count(*) AS n FROM adk_open_turns WHERE session_id = '${session}'`))[0]?.n) >
    0;

  return {
    start,
    outside,
    submit,
    approve,
    nodes,
    ended: (session: string) => until(async () => !(await open(session))),
    /** Sessions whose turns have not ended. */
    open: async () =>
      (await database.query('SELECT session_id FROM adk_open_turns')).map((row) => String(row.session_id)),
    /** Tools that ran, with the program that ran them. */
    effects: (session: string) =>
      database.query(
        `SELECT e.tool, e.pid, e.call_id FROM effects e
          WHERE EXISTS (SELECT 1 FROM adk_events v WHERE v.session_id = '${session}' AND strpos(v.content, e.call_id) > 0)
          ORDER BY e.n`,
      ),
    async close() {
      for (const { child, pid, over } of nodes) {
        try {
          process.kill(pid, 'SIGCONT');
          await child.kill();
        } catch {
          // It is over.
        }
        await over;
      }
      for (const close of closers) await close();
      await world.end();
    },
  };
}

/** What a look finds, as soon as it finds something: a test's own time says that it never will. */
export async function until<T>(look: () => Promise<T | undefined | false>, everyMs = 50): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(everyMs);
  }
}
