import { createHash } from 'node:crypto';
import type { Job, PgBoss } from 'pg-boss';
import type { Check, Shape } from '../../base/index.ts';
import { checkOptions, fn, name, required, ToldOnce, warnWith } from '../../base/index.ts';
import type { Dispatcher, SessionPlace } from '../../contracts/index.ts';
import { checkUrl, orMissing } from './peers.ts';
import { PostgresListener } from './postgres-listener.ts';

/** Milliseconds between two looks into the queue; a wake is told at once where the database can. */
const POLL_MS = 1000;
/** Seconds after which a look whose program has said nothing is done by another one. */
const SILENT_SECONDS = 15;
const TOUCH_MS = 5000;

const queueOptions = {
  policy: 'short',
  retryLimit: 4,
  retryDelay: 1,
  retryBackoff: true,
  heartbeatSeconds: SILENT_SECONDS,
  expireInSeconds: 23 * 3600,
  deleteAfterSeconds: 60,
} as const;

export interface PostgresDispatcherOptions {
  /** App of the host that it is for: hosts of one app share their wakes. */
  app: string;
  /** Schema of its tables. Default `coxswain_queue`; it is made where it does not exist. */
  schema?: string;
  /** Looks at a time that sessions of one user have, over all programs: the others are not kept waiting. Default: no limit. */
  perUser?: number;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

const limit: Check = {
  needs: 'a whole number from 1, or Infinity for no limit',
  fits: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 1),
};
const shape: Shape<PostgresDispatcherOptions> = { app: required(name), schema: name, perUser: limit, warn: fn };

/**
 * A dispatcher in PostgreSQL, by `pg-boss`: programs on any machine with the same database and app share what is to be
 * looked at. Needs the packages `pg-boss` and `pg`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL`, `FAILED_PRECONDITION / E_UNSUPPORTED`; what `pg-boss` says
 */
export async function postgresDispatcher(url: string, options: PostgresDispatcherOptions): Promise<Dispatcher> {
  checkUrl(url, 'postgresDispatcher', ['postgres', 'postgresql']);
  checkOptions<PostgresDispatcherOptions>(options, 'postgresDispatcher: options', shape);
  const { app, schema = 'coxswain_queue', perUser = Number.POSITIVE_INFINITY } = options;
  const warn = warnWith(options.warn);
  const boss = await openBoss(url, schema, warn);
  const channel = `coxswain_wake_${digest([schema, app]).slice(0, 16)}`;
  const queues = [`coxswain/${app}`, `coxswain/${app}/later`] as const;
  try {
    for (const queue of queues) await boss.createQueue(queue, queueOptions);
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {});
    throw error;
  }
  return new PostgresDispatcher(boss, { url, queues, channel, perUser, warn });
}

interface Parts {
  readonly url: string;
  /** The one, and another one that holds what programs before this release have put off. */
  readonly queues: readonly [string, string];
  readonly channel: string;
  /** Looks at a time for one user; Infinity: no limit. */
  readonly perUser: number;
  warn(message: string, error?: unknown): void;
}

interface Taken {
  readonly queue: string;
  readonly job: Job<SessionPlace>;
}

type Look = (place: SessionPlace) => Promise<void>;

class PostgresDispatcher implements Dispatcher {
  readonly #boss: PgBoss;
  readonly #parts: Parts;
  readonly #fetches = new ToldOnce();
  #listener: PostgresListener | undefined;
  readonly #servers = new Set<Server>();

  constructor(boss: PgBoss, parts: Parts) {
    this.#boss = boss;
    this.#parts = parts;
  }

  async wake(place: SessionPlace, { priority = 0 }: { priority?: number } = {}): Promise<void> {
    const { queues, channel } = this.#parts;
    await this.#boss.send(queues[0], placeOf(place), { singletonKey: keyOf(place), priority, group: groupOf(place) });
    for (const server of this.#servers) server.ring();
    // Whoever does not hear it looks within the second.
    await this.#boss
      .getDb()
      .executeSql('SELECT pg_notify($1, $2)', [channel, ''])
      .catch(() => {});
  }

  async schedule(place: SessionPlace, at: Date): Promise<void> {
    const singletonKey = `${keyOf(place)}/${Math.ceil(at.getTime() / 1000)}`;
    // How long from now, and not when: the clock of the database may be another one.
    const startAfter = Math.max(0, at.getTime() - Date.now()) / 1000;
    // In the queue of what is due: looks of one user are counted over one queue.
    await this.#boss.send(this.#parts.queues[0], placeOf(place), {
      singletonKey,
      startAfter,
      group: groupOf(place),
    });
  }

  async serve(look: Look, { concurrency }: { concurrency: number }): Promise<() => Promise<void>> {
    const { url, channel, warn, queues } = this.#parts;
    if (!this.#listener) {
      const ring = () => {
        for (const server of this.#servers) server.ring();
      };
      this.#listener = new PostgresListener({ url, channel, heard: ring, listening: ring, warn });
      await this.#listener.start();
    }
    const server = new Server(look, concurrency, {
      fetch: async (batchSize) => {
        const taken: Taken[] = [];
        for (const queue of queues) {
          if (taken.length >= batchSize) break;
          const jobs = await this.#fetch(queue, batchSize - taken.length);
          for (const job of jobs) taken.push({ queue, job });
        }
        this.#fetches.succeeded();
        return taken;
      },
      failed: (error) =>
        this.#fetches.failed(warn, 'what is to be looked at could not be read; the next look is as usual', error),
      done: async ({ queue, job }) => void (await this.#boss.complete(queue, job)),
      again: async ({ queue, job }, error) => void (await this.#boss.fail(queue, job, { message: String(error) })),
      touch: async (taken) => {
        for (const queue of queues) {
          const jobs = taken.filter((one) => one.queue === queue).map(({ job }) => job);
          if (jobs.length > 0) await this.#boss.touch(queue, jobs);
        }
      },
      // What is fetched together may be one user's, of which no more is taken than they may have: others stand behind it.
      hasMore: (taken, asked) => taken === asked || (taken > 0 && this.#parts.perUser !== Number.POSITIVE_INFINITY),
      warn,
    });
    this.#servers.add(server);
    return async () => {
      await server.stop();
      this.#servers.delete(server);
    };
  }

  /** Of two programs that fetch at once each would count what runs before the other has taken any: where users have a limit, one waits. */
  async #fetch(queue: string, batchSize: number): Promise<Job<SessionPlace>[]> {
    const { perUser, channel } = this.#parts;
    const begin = this.#boss.getDb();
    if (perUser === Number.POSITIVE_INFINITY || !begin.beginTransaction)
      return this.#boss.fetch<SessionPlace>(queue, { batchSize });
    const { db, commit, rollback } = await begin.beginTransaction();
    try {
      await db.executeSql('SELECT pg_advisory_xact_lock(hashtext($1))', [channel]);
      const jobs = await this.#boss.fetch<SessionPlace>(queue, { batchSize, groupConcurrency: perUser, db });
      await commit();
      return jobs;
    } catch (error) {
      await rollback();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers].map((server) => server.stop()));
    this.#servers.clear();
    await this.#listener?.close();
    await this.#boss.stop({ graceful: true, timeout: 5000 });
  }
}

interface Queue {
  fetch(most: number): Promise<Taken[]>;
  failed(error: unknown): void;
  done(taken: Taken): Promise<void>;
  again(taken: Taken, error: unknown): Promise<void>;
  touch(taken: readonly Taken[]): Promise<void>;
  /** So many were taken of as many as were asked for: there may be more. */
  hasMore(taken: number, asked: number): boolean;
  warn(message: string, error?: unknown): void;
}

/** Takes what is to be looked at as long as it has room, and looks at each session once at a time. */
class Server {
  readonly #look: Look;
  readonly #concurrency: number;
  readonly #queue: Queue;
  /** By the session's key: what is looked at, and what came for it meanwhile. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Taken[]>();
  readonly #held = new Set<Taken>();
  readonly #touches: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #fetching: Promise<void> | undefined;
  #isRung = false;
  #stopped = false;

  constructor(look: Look, concurrency: number, queue: Queue) {
    this.#look = look;
    this.#concurrency = concurrency;
    this.#queue = queue;
    this.#touches = setInterval(() => {
      if (this.#held.size > 0) queue.touch([...this.#held]).catch(() => {});
    }, TOUCH_MS).unref();
    this.ring();
  }

  /** There may be something. */
  ring(): void {
    this.#isRung = true;
    if (this.#fetching || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
      if (this.#stopped) return;
      if (this.#isRung && this.#running.size < this.#concurrency) this.ring();
      else this.#timer = setTimeout(() => this.ring(), POLL_MS);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#fetching;
    // What came for a session that was looked at was taken already, and is looked at next.
    while (this.#running.size > 0) await Promise.all(this.#running.values());
    clearInterval(this.#touches);
  }

  async #fetch(): Promise<void> {
    const room = this.#concurrency - this.#running.size;
    this.#isRung = false;
    if (room <= 0) return;
    try {
      const taken = await this.#queue.fetch(room);
      for (const one of taken) this.#take(one);
      if (this.#queue.hasMore(taken.length, room)) this.#isRung = true;
    } catch (error) {
      this.#queue.failed(error);
    }
  }

  #take(taken: Taken): void {
    this.#held.add(taken);
    const key = keyOf(taken.job.data);
    if (this.#running.has(key)) this.#next.set(key, [...(this.#next.get(key) ?? []), taken]);
    else this.#run(key, [taken]);
  }

  #run(key: string, taken: readonly Taken[]): void {
    const running = this.#lookAt(taken).finally(() => {
      this.#running.delete(key);
      const next = this.#next.get(key);
      this.#next.delete(key);
      if (next) this.#run(key, next);
      else this.ring();
    });
    this.#running.set(key, running);
  }

  /** One look for all of them: they have come while another one was under way. */
  async #lookAt(taken: readonly Taken[]): Promise<void> {
    const [first] = taken;
    if (!first) return;
    let thrown: { error: unknown } | undefined;
    try {
      await this.#look(placeOf(first.job.data));
    } catch (error) {
      thrown = { error };
      this.#queue.warn(`session ${first.job.data.sessionId} could not be looked at; it is tried again`, error);
    }
    for (const one of taken) {
      this.#held.delete(one);
      try {
        await (thrown ? this.#queue.again(one, thrown.error) : this.#queue.done(one));
      } catch (error) {
        // Nobody touches it any more: another program looks again, and finds what there is to do.
        this.#queue.warn('that a look is over could not be stored: it is repeated', error);
      }
    }
  }
}

const placeOf = ({ agent, userId, sessionId }: SessionPlace): SessionPlace => ({ agent, userId, sessionId });

/**
 * Among which a user's looks are counted. What a host looks at for itself, in place of an agent's sessions, is counted by
 * itself: a message about a turn that is over does not wait for one that runs.
 */
const groupOf = ({ agent, userId }: SessionPlace) => ({
  id: digest(agent.startsWith('@') ? [userId, agent] : [userId]),
});

const keyOf = ({ agent, userId, sessionId }: SessionPlace) => digest([agent, userId, sessionId]);

const digest = (of: readonly string[]) => createHash('sha256').update(JSON.stringify(of)).digest('hex');

async function openBoss(url: string, schema: string, warn: Parts['warn']): Promise<PgBoss> {
  let module: typeof import('pg-boss');
  try {
    module = await import('pg-boss');
  } catch (error) {
    throw orMissing(error, 'pg-boss pg');
  }
  const boss = new module.PgBoss({
    connectionString: url,
    schema,
    application_name: 'coxswain',
    max: 4,
    schedule: false,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    registerInstance: false,
    openTelemetry: { enabled: false },
  });
  const told = new ToldOnce();
  boss.on('error', (error) => told.failed(warn, 'the queue in PostgreSQL does not answer', error));
  await boss.start();
  return boss;
}
