import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import type { Server, TestDatabase } from '../../adapters/databases.ts';
import type { Child } from '../../adapters/processes.ts';
import { startChild } from '../../adapters/processes.ts';
import { yesesIn } from '../../cli/kill.ts';
import type { Random } from '../replay/random.ts';
import { below, randomOf } from '../replay/random.ts';
import type { Story } from './judge.ts';
import { faultsOf } from './judge.ts';
import type { Said, Task } from './words.ts';
import { KINDS } from './words.ts';

/** One process, and what it has said. */
class Owner {
  readonly child: Child;
  readonly said: Said[] = [];
  readonly ready: Promise<void>;
  isDead = false;
  #asked = 0;
  readonly #waiting = new Map<number, (said: Said) => void>();

  constructor(url: string, notes: string) {
    this.child = startChild('../property/owner/child.ts', url, notes);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    void this.#listen(resolve);
  }

  /** Undefined: it died before it said what came of it. */
  ask(task: Omit<Task, 'n'>): Promise<Said | undefined> {
    const n = ++this.#asked;
    return new Promise((resolve) => {
      if (this.isDead) return resolve(undefined);
      this.#waiting.set(n, resolve);
      this.child.tell(JSON.stringify({ n, ...task }));
    });
  }

  async #listen(ready: () => void): Promise<void> {
    for (let line = await this.child.next(); line !== undefined; line = await this.child.next()) {
      const said = JSON.parse(line) as Said;
      this.said.push(said);
      if (said.ok === 'ready') ready();
      if (said.n !== undefined) this.#waiting.get(said.n)?.(said);
    }
    this.isDead = true;
    for (const resolve of this.#waiting.values()) resolve(undefined as never);
  }
}

export interface Tally {
  cases: number;
  runs: number;
  kills: number;
  refused: number;
  reruns: number;
}

/** Two processes on one database, each replaced by a new one when it was killed. */
export class Owners {
  readonly tally: Tally = { cases: 0, runs: 0, kills: 0, refused: 0, reruns: 0 };
  readonly #database: TestDatabase;
  readonly #folder = mkdtempSync(join(tmpdir(), 'coxswain-owners-'));
  readonly #notes = join(this.#folder, 'notes');
  #two: Owner[];
  #spare: Owner;

  constructor(database: TestDatabase) {
    this.#database = database;
    this.#two = [this.#start(), this.#start()];
    this.#spare = this.#start();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#two, this.#spare].map(({ child }) => child.kill()));
    rmSync(this.#folder, { recursive: true });
  }

  /** One session; what is wrong with it, and what was done to it. */
  async story(seed: number): Promise<{ faults: string[]; done: string[] }> {
    const random = randomOf(seed);
    const session = `s${seed}`;
    await Promise.all(this.#two.map((owner) => owner.ready));
    const done: string[] = [];
    const ended: Promise<unknown>[] = [];
    const said: Said[] = [];
    let aborts = 0;
    let kills = 1 + below(random, 2);
    const seen = this.#two.map((owner) => ({ owner, from: owner.said.length }));
    const tell = (which: number, task: Omit<Task, 'n' | 'session'>) => {
      const owner = this.#two[which] as Owner;
      done.push(`${which} ${task.what} ${task.words ?? task.pick ?? ''}`);
      const n = done.length - 1;
      const came = owner.ask({ session, ...task }).then((what) => {
        done[n] += ` → ${what?.ok ?? what?.refused ?? 'died'}${what?.answered ? ` ${what.answered.requestId}` : ''}`;
        if (what) said.push(what);
        if (what?.refused) this.tally.refused++;
        return what;
      });
      ended.push(came);
      return came;
    };
    void tell(below(random, 2), { what: 'message', words: listOf(random) });
    const count = 4 + below(random, 8);
    for (let n = 0; n < count; n++) {
      await sleep(below(random, 40));
      const which = below(random, 2);
      const roll = random();
      if (roll < 0.15) void tell(which, { what: 'message', words: listOf(random) });
      else if (roll < 0.35) void tell(which, { what: 'continue' });
      else if (roll < 0.45) void tell(which, { what: 'steer', words: `hint ${n}` });
      else if (roll < 0.6) void tell(which, { what: 'yes', pick: below(random, 4) });
      else if (roll < 0.67) void tell(which, { what: 'no', pick: below(random, 4) });
      else if (roll < 0.77) void tell(which, { what: 'decide', pick: below(random, 4) });
      else if (roll < 0.82) {
        aborts++;
        void tell(which, { what: 'abort' });
      } else if (kills-- > 0) {
        done.push(`${which} killed`);
        if (random() < 0.6) await this.#runsTool(which, session);
        await this.#kill(which, session);
        seen.push({ owner: this.#two[which] as Owner, from: 0 });
      }
    }
    const last = await tell(below(random, 2), { what: 'finish' });
    await Promise.all(ended);
    const read = await (this.#two[0] as Owner).ask({ session, what: 'events' });
    const story: Story = {
      session,
      aborts,
      finish: last?.ok ?? last?.refused ?? 'died',
      said,
      shown: seen.flatMap(({ owner, from }) => owner.said.slice(from)).flatMap((one) => shownIn(one, session)),
      kept: new Set((read?.ok ?? '').split(' ')),
      log: await this.#log(session),
      notes: this.#notesOf(session),
    };
    this.tally.cases++;
    this.tally.runs += story.notes.filter(({ what }) => what === 'begin').length;
    this.tally.reruns += yesesIn(story.log).size;
    return { faults: faultsOf(story), done };
  }

  #start(): Owner {
    return new Owner(this.#database.url as string, this.#notes);
  }

  /** Waits until the process runs a tool, or for a while. */
  async #runsTool(which: number, session: string): Promise<void> {
    const pid = `${this.#two[which]?.child.pid}`;
    for (let looks = 0; looks < 60; looks++) {
      const own = this.#notesOf(session).filter(({ more }) => more === pid);
      const ran = new Set(own.flatMap(({ what, id }) => (what === 'begin' ? [] : [id])));
      if (own.some(({ what, id }) => what === 'begin' && !ran.has(id))) return;
      await sleep(5);
    }
  }

  #notesOf(session: string): Story['notes'] {
    if (!existsSync(this.#notes)) return [];
    return readFileSync(this.#notes, 'utf8')
      .split('\n')
      .flatMap((line) => noteOf(line, session));
  }

  async #kill(which: number, session: string): Promise<void> {
    const { child } = this.#two[which] as Owner;
    await child.kill();
    appendFileSync(this.#notes, `killed ${session} - ${child.pid}\n`);
    this.tally.kills++;
    this.#two[which] = this.#spare;
    this.#spare = this.#start();
  }

  async #log(id: string): Promise<readonly StoredEvent[]> {
    const store = await this.#database.open();
    try {
      return (await store.get({ app: 'shop', userId: 'ann', id }))?.events ?? [];
    } finally {
      await store.close();
    }
  }
}

function shownIn(said: Said, session: string): string[] {
  return said.shown !== undefined && said.session === session ? [said.shown] : [];
}

function noteOf(line: string, session: string): Story['notes'] {
  const [what = '', of, id = '', more = '', name = ''] = line.split(' ');
  return of === session ? [{ what, id, more, name }] : [];
}

/** One to three steps of one to four calls. */
function listOf(random: Random): string {
  const names = Object.keys(KINDS);
  const call = () => {
    const name = names[below(random, names.length)];
    return `${random() < 0.3 ? 'own_' : ''}${name}:${below(random, 120)}`;
  };
  const step = () => Array.from({ length: 1 + below(random, 4) }, call).join(',');
  return `do ${Array.from({ length: 1 + below(random, 3) }, step).join(' ')}`;
}

export interface Finding {
  seed: number;
  faults: string[];
  done: string[];
}

export function* seedsFrom(seed: number): Generator<number> {
  for (let next = seed; ; next++) yield next;
}

/** Stories on a database of their own, until one of them is not as it must be. */
export async function searchOn(
  server: Server,
  seeds: Iterable<number>,
  goesOn: (cases: number) => boolean,
): Promise<{ tally: Tally; finding: Finding | undefined }> {
  const database = await server.make();
  const owners = new Owners(database);
  const { tally } = owners;
  try {
    for (const seed of seeds) {
      if (!goesOn(tally.cases)) break;
      const { faults, done } = await owners.story(seed);
      if (faults.length > 0) return { tally, finding: { seed, faults, done } };
    }
    return { tally, finding: undefined };
  } finally {
    await owners.close();
    await database.drop();
  }
}

export function describeFinding({ seed, faults, done }: Finding): string {
  return [
    `seed ${seed}:`,
    ...faults.map((fault) => `  ${fault}`),
    'what was done:',
    ...done.map((one) => `  ${one}`),
  ].join('\n');
}
