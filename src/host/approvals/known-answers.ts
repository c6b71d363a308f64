import type { AgentEvent, SessionPlace } from '../../contracts/index.ts';
import type { LogMark } from '../../session/index.ts';
import { markAt, nameOfPlace, readBehind, saidIn } from '../../session/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import { lookInto } from './open-places.ts';
import type { ApprovalHost } from './open-sessions.ts';

/** Answers that are remembered, over all sessions. */
const MAX_ANSWERS = 100_000;

interface Answered {
  userId: string;
  /** `requestId` and who has answered it, as JSON. */
  names: Set<string>;
  /** Epoch milliseconds until which nobody looks whether there are more. */
  until: number;
  /** As what it is counted: a session without answers counts, too. */
  weight: number;
  /** How far the log was read; none of one that has to be read whole. */
  mark?: LogMark | undefined;
}

/**
 * Who has answered what. People of whom nothing else is known may ask what came of a question if they have answered it, which
 * the log alone says: for them a session is opened once in a while, one at a time, and each of its events is read once.
 */
export class KnownAnswers {
  readonly #host: Pick<ApprovalHost, 'borrow'>;
  readonly #everyMs: number;
  /** Those that were asked for last come last. */
  readonly #sessions = new Map<string, Answered>();
  #size = 0;
  #reading: Promise<unknown> = Promise.resolve();

  /** @param everyMs between two looks at what others have answered in a session */
  constructor(host: Pick<ApprovalHost, 'borrow'>, everyMs: number) {
    this.#host = host;
    this.#everyMs = everyMs;
  }

  /** @param who name of a principal */
  async has(place: SessionPlace, requestId: string, who: string): Promise<boolean> {
    const isKnown = () => this.#sessions.get(nameOfPlace(place))?.names.has(answerName(requestId, who)) === true;
    if (isKnown()) return true;
    const look = async () => {
      if (isKnown() || Date.now() < (this.#sessions.get(nameOfPlace(place))?.until ?? 0)) return;
      await lookInto(this.#host, place, (session) => this.#read(place, session));
    };
    const looking = this.#reading.then(look);
    // Each waits for those before it, whatever came of them.
    this.#reading = looking.catch(() => {});
    await looking;
    return isKnown();
  }

  /** Something was answered in this user's sessions. */
  forget(userId: string): void {
    for (const answered of this.#sessions.values()) if (answered.userId === userId) answered.until = 0;
  }

  /** A session is deleted: another one may have its id, and the same ids in it. One that is being read is forgotten then. */
  async forgetSession(place: SessionPlace): Promise<void> {
    const name = nameOfPlace(place);
    this.#drop(name);
    await this.#reading;
    this.#drop(name);
  }

  async #read(place: SessionPlace, session: HostedSession): Promise<void> {
    const before = this.#sessions.get(nameOfPlace(place));
    const isRead = before !== undefined && (await readBehind(session, before.mark, (event) => note(before, event)));
    const answered = isRead ? before : await this.#readAnew(place, session);
    answered.until = Date.now() + this.#everyMs;
    this.#keep(place, answered);
  }

  async #readAnew({ userId }: SessionPlace, session: HostedSession): Promise<Answered> {
    const answered: Answered = { userId, names: new Set(), until: 0, weight: 0 };
    for await (const event of session.history()) note(answered, event);
    // What its sub-agents do has no place in its log.
    if (session.subagents) delete answered.mark;
    return answered;
  }

  #keep(place: SessionPlace, answered: Answered): void {
    const name = nameOfPlace(place);
    this.#drop(name);
    this.#sessions.set(name, answered);
    answered.weight = 10 + answered.names.size;
    this.#size += answered.weight;
    for (const oldest of this.#sessions.keys()) {
      if (this.#size <= MAX_ANSWERS || oldest === name) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const dropped = this.#sessions.get(name);
    if (!dropped) return;
    this.#size -= dropped.weight;
    this.#sessions.delete(name);
  }
}

function note(answered: Answered, event: AgentEvent): void {
  const said = saidIn(event);
  // An id alone, as older executors give it, names nobody: the same principal may act for others.
  if (said?.byName !== undefined) answered.names.add(answerName(said.requestId, said.byName));
  answered.mark = markAt(answered.mark, event);
}

const answerName = (requestId: string, who: string) => JSON.stringify([requestId, who]);
