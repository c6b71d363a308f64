import type { SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';
import { goOn, isUnfinished } from '../hosted/index.ts';
import { isLeft, lookInto, lookPast, withoutSubagents } from './open-places.ts';
import type { ApprovalHost } from './open-sessions.ts';

/** Sessions that are gone on with at a time. */
const AT_ONCE = 8;

/** What goes on after a recovery. */
export interface Recovery {
  sessions: SessionPlace[];
  /** Resolves when none of them runs any more: it has ended, or waits for somebody. Never rejects. */
  done: Promise<void>;
}

/** Sessions that nobody runs and that have something to do which needs nobody's answer. */
export async function findUnfinished(host: ApprovalHost): Promise<SessionPlace[]> {
  const turns = await host.openTurns();
  const running = new Set(turns.filter((one) => one.running).map(nameOfPlace));
  // A session of which a turn is open is gone on with by the agent of that turn; each agent of a host sees its calls.
  const inTurn = new Set(turns.map(sessionOf));
  const outlived = (await host.openSessions()).filter((one) => !inTurn.has(sessionOf(one)));
  const found = new Map<string, SessionPlace>();
  // Calls may be open that have outlived their turn.
  for (const { agent, userId, sessionId } of await withoutSubagents(host, [...turns, ...outlived])) {
    const place = { agent, userId, sessionId };
    const name = nameOfPlace(place);
    if (running.has(name) || found.has(name)) continue;
    const looked = await lookPast(host, place, (session) => isUnfinished(session));
    if (looked?.found) found.set(name, place);
  }
  return [...found.values()];
}

/** Goes on with them, some at a time. */
export function recoverSessions(host: ApprovalHost, sessions: SessionPlace[]): Recovery {
  const left = [...sessions];
  const work = async () => {
    for (let place = left.shift(); place; place = left.shift()) {
      await lookInto(host, place, goOn, true).catch((error: unknown) => {
        if (!isLeft(error)) host.warn(`session ${place?.sessionId} could not be resumed`, error);
      });
    }
  };
  const done = Promise.all(Array.from({ length: Math.min(AT_ONCE, sessions.length) }, work)).then(() => {});
  return { sessions, done };
}

const sessionOf = ({ userId, sessionId }: SessionPlace) => JSON.stringify([userId, sessionId]);
