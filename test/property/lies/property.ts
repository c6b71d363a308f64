import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import type {
  AgentSource,
  PolicyEvaluator,
  ReportedRequest,
  RequestAnswer,
  Session,
} from '../../../src/contracts/index.ts';
import { ensureValidator } from '../../../src/gate/index.ts';
import type { AgentHost } from '../../../src/host/index.ts';
import type { HostOptions } from '../../../src/index.ts';
import { createHost } from '../../../src/index.ts';
import type { Random } from '../replay/random.ts';
import { below, randomOf } from '../replay/random.ts';
import { dying } from './dying.ts';
import { randomLiar } from './liar.ts';
import { people, rules, toolNames, tools } from './tools.ts';
import { Watch } from './watch.ts';
import type { Wire } from './wires.ts';

export interface Tally {
  seeds: number;
  cases: number;
  runs: number;
  answers: number;
  contradictions: number;
}

export const nothing: Tally = { seeds: 0, cases: 0, runs: 0, answers: 0, contradictions: 0 };

export interface Finding {
  seed: number;
  faults: string[];
  trace: string[];
}

/** Milliseconds after which a stream of a liar counts as one that never ends. */
const STUCK_MS = 30_000;

/** Under which circumstances an executor lies. */
export interface Circumstances {
  wire: Wire;
  /** The hosts keep their notes in one store, and some of them die amid what they do. */
  keeps?: boolean;
  /** Side by side. Default 1. */
  hosts?: number;
}

class Life {
  readonly faults: string[] = [];
  readonly trace: string[] = [];
  readonly #random: Random;
  /** Of its own: over a wire it is not told when it speaks. */
  readonly #liars: Random;
  readonly #tally: Tally;
  #watch = new Watch();

  constructor(seed: number, tally: Tally) {
    this.#random = randomOf(seed);
    this.#liars = randomOf(~seed);
    this.#tally = tally;
  }

  async live({ wire, keeps = false, hosts = 1 }: Circumstances): Promise<void> {
    const rate = this.#pick([0, 0.05, 0.2, 0.4]);
    const liar = randomLiar(this.#liars, rate, (line) => this.trace.push(line));
    const { sources, close } = await wire(liar);
    const store = keeps ? openSqlite(':memory:') : undefined;
    try {
      const lives = 1 + below(this.#random, keeps ? 4 : 2);
      for (let life = 0; life < lives; life++) {
        // Who knows nothing of what was said before asks again.
        if (!store) this.#watch = new Watch();
        await this.#together(sources, store, hosts);
        this.faults.push(...this.#watch.faults.splice(0));
      }
    } finally {
      await close();
      await store?.close();
    }
  }

  /** One or more hosts, from their start to their end. */
  async #together(
    sources: readonly AgentSource[],
    store: ReturnType<typeof openSqlite> | undefined,
    count: number,
  ): Promise<void> {
    const hosts = Array.from({ length: count }, () => {
      if (!store || this.#random() < 0.5) return this.#host(sources, store);
      const death = dying(below(this.#random, 30));
      return this.#host(sources.map(death.source), death.store(store));
    });
    try {
      const sessions: Session[] = [];
      for (const host of hosts) {
        const principal = this.#pick(people);
        this.#watch.began.push(principal);
        try {
          sessions.push(await host.open('liar', { sessionId: 's0', principal }));
        } catch (error) {
          this.trace.push(`not opened: ${error}`);
        }
      }
      if (sessions.length === 0) return;
      const steps = 4 + below(this.#random, 10);
      for (let step = 0; step < steps; step++) {
        const who = this.#random() < 0.3 ? sessions : [this.#pick(sessions)];
        this.#tally.cases += who.length;
        await Promise.all(
          who.map((session) => this.#step(session).catch((error: unknown) => this.trace.push(`refused: ${error}`))),
        );
      }
    } finally {
      await Promise.all(hosts.map((host) => host.close()));
    }
  }

  #host(sources: readonly AgentSource[], store: HostOptions['store']): AgentHost {
    const watch = this.#watch;
    this.trace.push('a host starts');
    const policy: PolicyEvaluator = {
      evaluate(request, signal) {
        watch.policyAsked(request.action, request.args);
        return rules.evaluate(request, signal);
      },
    };
    return createHost({
      app: 'shop',
      agents: sources,
      ...(store ? { store: store } : {}),
      tools: tools((name, args, { callId }) => {
        this.#tally.runs++;
        this.trace.push(`${name} ${JSON.stringify(args)} runs for ${callId}`);
        watch.ran(name, args, callId);
      }),
      policy,
      warn: () => {
        this.#tally.contradictions++;
      },
    });
  }

  async #step(session: Session): Promise<void> {
    const roll = this.#random();
    if (roll < 0.2) await this.#stream(session, 'go');
    else if (roll < 0.45) await this.#stream(session, { kind: 'continue' });
    else if (roll < 0.9) await this.#answer(session);
    else if (roll < 0.95) {
      // The id of a call stands for what is asked about it now.
      const callId = this.#pick(['c0', 'c1', 'c0-2']);
      const by = this.#pick(people);
      const asked = (await session.pending()).find((request) => request.callId === callId && request.approval);
      const args = { eur: 999 };
      if (asked) this.#watch.said(asked.requestId, nameOf(asked), args, by);
      // The executor may list it to the host a moment later.
      else for (const name of toolNames) this.#watch.said(`${callId}#unseen`, name, args, by);
      this.trace.push(`${by.id} lets ${callId} run with {"eur":999}`);
      await session.respond(callId, { kind: 'approve', by, args: { eur: 999 } });
    } else await session.abort({ requestId: this.#pick(['c0', 'c1']) });
  }

  async #stream(session: Session, input: Parameters<Session['stream']>[0]): Promise<void> {
    const principal = this.#random() < 0.7 ? undefined : this.#pick(people);
    this.trace.push(`stream ${JSON.stringify(input)} ${principal?.id ?? ''}`);
    if (principal) this.#watch.began.push(principal);
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<'stuck'>((resolve) => {
      timer = setTimeout(() => resolve('stuck'), STUCK_MS);
    });
    const read = async () => {
      for await (const _ of session.stream(input, principal ? { principal } : {}));
    };
    try {
      if ((await Promise.race([read(), stuck])) === 'stuck') this.faults.push('a stream did not end');
    } finally {
      clearTimeout(timer);
    }
  }

  async #answer(session: Session): Promise<void> {
    const open = (await session.pending()).filter(({ approval }) => approval);
    if (open.length === 0) return;
    const request = this.#pick(open);
    const by = this.#pick(people);
    const { requestId } = request;
    const isYes = this.#random() < 0.85;
    const args = isYes && this.#random() < 0.2 ? { eur: 7 } : undefined;
    this.#tally.answers++;
    this.trace.push(`${by.id} says ${isYes ? 'yes' : 'no'} to ${requestId} ${args ? JSON.stringify(args) : ''}`);
    const answer: RequestAnswer = isYes ? { kind: 'approve', by, ...(args ? { args } : {}) } : { kind: 'deny', by };
    // What they meant counts, whatever became of it.
    if (isYes) this.#watch.said(requestId, nameOf(request), args ?? request.args, by);
    if (isYes && this.#random() < 0.3) {
      await this.#stream(session, { kind: 'tool_approval', requestId, by, ...(args ? { args } : {}) });
      return;
    }
    const { status } = await session.respond(requestId, answer);
    if (!isYes && status === 'settled') this.#watch.refused(requestId);
  }

  #pick<T>(items: readonly T[]): T {
    return items[below(this.#random, items.length)] as T;
  }
}

function nameOf({ name }: ReportedRequest): string {
  return name ?? '';
}

/** Lives through one seed. */
export type TrySeed = (seed: number, tally: Tally) => Promise<Finding | undefined>;

/** An executor that lies to a host, under such circumstances. */
export function lying(circumstances: Circumstances): TrySeed {
  return async (seed, tally) => {
    const loading = ensureValidator();
    if (loading) await loading;
    const life = new Life(seed, tally);
    return judged(seed, life, () => life.live(circumstances));
  };
}

/** What was wrong in a life, if anything was. */
export async function judged(
  seed: number,
  { faults, trace }: { faults: string[]; trace: string[] },
  live: () => Promise<void>,
): Promise<Finding | undefined> {
  const unhandled = (error: unknown) => faults.push(`unhandled rejection: ${error}`);
  process.on('unhandledRejection', unhandled);
  try {
    await live();
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    process.off('unhandledRejection', unhandled);
  }
  return faults.length > 0 ? { seed, faults, trace } : undefined;
}

/** Seeds from `from` until one is wrong or `goesOn` says no. */
export async function search(options: {
  from: number;
  trySeed: TrySeed;
  goesOn: (tally: Tally) => boolean;
}): Promise<{ tally: Tally; finding: Finding | undefined }> {
  const tally: Tally = { ...nothing };
  for (let seed = options.from; options.goesOn(tally); seed++) {
    tally.seeds++;
    const finding = await options.trySeed(seed, tally);
    if (finding) return { tally, finding };
  }
  return { tally, finding: undefined };
}

export function describeFinding({ seed, faults, trace }: Finding): string {
  const again = `again: SEED=${seed} npm test -- test/property/lies/lies.test.ts`;
  return [...trace, '', `seed ${seed}:`, ...faults, again].join('\n');
}
