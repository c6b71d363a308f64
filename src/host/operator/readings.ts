import type { AgentSession } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import { HostedSession } from '../hosted/index.ts';
import type { AgentHost } from '../index.ts';
import { LogReading } from './log-reading.ts';
import type { Above } from './shown-log.ts';
import { ShownLog } from './shown-log.ts';

/** Logs of which is known what to hide: of watchers that come back for more. */
const MAX_READINGS = 32;
/** Characters of arguments that they may hold together. */
const MAX_HELD = 32 * 1024 * 1024;
/** Milliseconds after which one that nobody has asked for is forgotten: what a user deletes is not kept here. */
const FORGOTTEN_MS = 60_000;
/** Agents that have called one another. */
const MAX_DEPTH = 32;

interface Kept {
  readonly reading: LogReading;
  forgets: ReturnType<typeof setTimeout>;
}

interface Owned {
  readonly userId: string;
  readonly agent: string;
}

/** What is to be hidden of logs: what is known of it once all of a log was read, and of those that it hangs together with. */
export class Readings {
  readonly #host: AgentHost;
  /** Those that were asked for last come last. */
  readonly #kept = new Map<string, Kept>();

  constructor(host: AgentHost) {
    this.#host = host;
  }

  /** A session's log as operators may see it, as far as it goes now. */
  async shownLog(session: AgentSession, owned: Owned): Promise<ShownLog> {
    // First what was asked of it, and then what it did: what it was asked with was decided before.
    const above = await this.#aboveOf(session, owned, 0);
    return new ShownLog(await this.#read(session, owned), above);
  }

  async #read(session: AgentSession, owned: Owned): Promise<LogReading> {
    const key = JSON.stringify([owned.agent, owned.userId, session.id]);
    const reading = this.#kept.get(key)?.reading ?? new LogReading();
    await reading.read(session, (sessionId) => this.#find(sessionId, owned));
    this.#keep(key, reading);
    return reading;
  }

  /** Undefined: no other session has called it. */
  async #aboveOf(session: AgentSession, owned: Owned, depth: number): Promise<Above | undefined> {
    if (!(session instanceof HostedSession)) return undefined;
    const { terms } = await session.standing();
    const calledBy = terms?.calledBy;
    if (!calledBy) return undefined;
    const unknown = { texts: [], hidesPrompt: true, isUnknown: true };
    // What another executor has been told by policy is in no log here.
    if (depth >= MAX_DEPTH || calledBy.agent !== undefined) return unknown;
    const caller = await this.#find(calledBy.sessionId, owned);
    if (!caller) return unknown;
    try {
      const above = await this.#aboveOf(caller, owned, depth + 1);
      const reading = await this.#read(caller, owned);
      const place = reading.placeOf(calledBy.callId);
      if (!place) return unknown;
      const { turnId, at } = place;
      const { redaction } = reading;
      return {
        texts: [...redaction.textsOf(turnId), ...reading.textsInside(turnId), ...(above?.texts ?? [])],
        hidesPrompt: redaction.hidesArgsOf(calledBy.callId),
        isUnknown: above?.isUnknown === true || reading.isUnknownAt(turnId, at),
      };
    } finally {
      await caller[Symbol.asyncDispose]();
    }
  }

  async #find(sessionId: string, { agent, userId }: Owned): Promise<AgentSession | undefined> {
    try {
      return await this.#host.open(agent, { userId, sessionId });
    } catch (error) {
      if (isCoxswainError(error) && ['E_SESSION_NOT_FOUND', 'E_ID'].includes(error.code)) return undefined;
      throw error;
    }
  }

  #keep(key: string, reading: LogReading): void {
    this.#forget(key);
    this.#kept.set(key, { reading, forgets: setTimeout(() => this.#forget(key), FORGOTTEN_MS).unref() });
    let held = [...this.#kept.values()].reduce((sum, one) => sum + one.reading.size, 0);
    for (const [oldest, one] of this.#kept) {
      if (this.#kept.size <= MAX_READINGS && held <= MAX_HELD) break;
      held -= one.reading.size;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    clearTimeout(this.#kept.get(key)?.forgets);
    this.#kept.delete(key);
  }
}
