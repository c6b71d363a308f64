import { CoxswainError } from '../../src/contracts/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';
import { key } from './kit.ts';

export const conflict = () => new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', 'somebody has written');
export const exists = () => new CoxswainError('ALREADY_EXISTS', 'E_EVENT_EXISTS', 'it is there');
export const note = (id: string, more: object = {}) => createEvent({ id, author: 'user', turnId: 't', ...more });

/** A store that other processes write, too, in which somebody may be faster. */
export class Shared extends InMemorySessionService {
  override readonly isPrivate = false;
  before: (events: readonly StoredEvent[]) => unknown = () => undefined;

  override async append(...[of, events, options]: Parameters<InMemorySessionService['append']>) {
    await this.before(events);
    return super.append(of, events, options);
  }

  theirs(...events: StoredEvent[]) {
    return super.append(key, events);
  }
}

export async function opened(left: (f: Folding) => void = () => {}) {
  const f = new Folding();
  left(f);
  const sessions = new Shared();
  await sessions.create(key);
  await sessions.append(key, f.events);
  const live = await LiveSession.open(sessions, key);
  const log = async () => (await sessions.get(key))?.events ?? [];
  return { sessions, live, log };
}

/** Does it before the first append, and nothing before the others. */
export function once(sessions: Shared, work: () => unknown) {
  sessions.before = async () => {
    sessions.before = () => undefined;
    await work();
  };
}

export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: CoxswainError) => error.code,
  );
