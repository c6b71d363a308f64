import type { DecidedQuestion, SessionPlace } from '../../contracts/index.ts';
import { mayBeSubagents } from '../../gate/index.ts';
import { callerOf } from '../hosted/index.ts';
import { lookPast } from './open-places.ts';
import type { ApprovalHost } from './open-sessions.ts';

/** Sessions of which it is kept where their questions were asked. */
const MAX_KEPT = 5000;
/** Sessions that are read at a time. */
const AT_ONCE = 4;

type AskedIn = DecidedQuestion['askedIn'];
type Whose = Pick<SessionPlace, 'userId' | 'sessionId'>;

/**
 * What a sub-agent asks is stored in its log, and is asked and answered in the session that a person has opened. That a
 * session is a sub-agent's is what its log says: most ids have not the form of one, and are not looked into.
 */
export class AskedPlaces {
  readonly #host: Pick<ApprovalHost, 'borrow' | 'warn' | 'storeAgent'>;
  /** In the order in which they were read. Undefined: it was asked in the session itself. */
  readonly #known = new Map<string, AskedIn>();

  constructor(host: Pick<ApprovalHost, 'borrow' | 'warn' | 'storeAgent'>) {
    this.#host = host;
  }

  /** Adds `askedIn` to those that sub-agents have asked. */
  async add<T extends Whose>(decided: readonly T[]): Promise<(T & { askedIn?: NonNullable<AskedIn> })[]> {
    const sessions = new Map(
      decided.filter(({ sessionId }) => mayBeSubagents(sessionId)).map((one) => [nameOf(one), one]),
    );
    const unread = [...sessions].filter(([name]) => !this.#known.has(name));
    const read = new Map<string, AskedIn>();
    for (let at = 0; at < unread.length; at += AT_ONCE) {
      const some = unread.slice(at, at + AT_ONCE);
      await Promise.all(some.map(async ([name, one]) => read.set(name, await this.#read(name, one))));
    }
    const found = new Map([...sessions.keys()].map((name) => [name, read.get(name) ?? this.#known.get(name)]));
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KEPT) break;
      this.#known.delete(oldest);
    }
    return decided.map((one) => {
      const askedIn = found.get(nameOf(one));
      return askedIn ? { ...one, askedIn } : one;
    });
  }

  /** One that cannot be read now is listed as it is stored, and read again the next time. */
  async #read(name: string, { userId, sessionId }: Whose): Promise<AskedIn> {
    const agent = this.#host.storeAgent;
    if (agent === undefined) return undefined;
    const looked = await lookPast(this.#host, { agent, userId, sessionId }, async (session) => {
      return { caller: await callerOf(session) };
    });
    if (!looked?.found) return undefined;
    // Programs may have stored anything.
    const { agent: rootAgent, sessionId: rootId } = looked.found.caller?.calledBy.root ?? {};
    const isWhole = typeof rootAgent === 'string' && typeof rootId === 'string';
    const askedIn = isWhole ? { agent: rootAgent, sessionId: rootId } : undefined;
    this.#known.set(name, askedIn);
    return askedIn;
  }
}

const nameOf = ({ userId, sessionId }: Whose) => JSON.stringify([userId, sessionId]);
