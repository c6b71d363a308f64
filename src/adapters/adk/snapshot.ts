import { badInput, checkIs, guarded, list, object, text } from '../../base/index.ts';
import type { SessionRef, SessionSnapshot } from '../../contracts/index.ts';
import { CoxswainError, copyJson, MAX_JSON_DEPTH } from '../../contracts/index.ts';
import type { LiveSession, SessionKey, SessionRecord, SessionService, StoredEvent } from '../../runtime/index.ts';
import { Chain, createEvent, faultOfEvent } from '../../runtime/index.ts';
import { settling } from '../../runtime/session/index.ts';
import { project } from './project.ts';

/** A session as data, to be opened elsewhere. */
export async function snapshotOf(session: { readonly live: LiveSession }): Promise<SessionSnapshot> {
  const { live } = session;
  await live.catchUp();
  await live.whole();
  return {
    id: live.key.id,
    agentName: live.key.app,
    userId: live.key.userId,
    events: live.log.flatMap((event) => project(live.key.id, event)),
    state: { ...live.fold.shared, ...live.fold.state },
    lastUpdateTime: live.log.at(-1)?.timestamp ?? Date.now(),
    // What was cut is not in it, so nothing marks the place of the cut.
    log: live.log.map((event) => (event.actions.rewound ? unmarked(event) : event)),
    initialState: { ...live.initialState },
  };
}

function unmarked(event: StoredEvent): StoredEvent {
  const { rewound: _, ...actions } = event.actions;
  return { ...event, actions };
}

/** Opens a session from its data: once under its own id; as a copy, it is another session with the same history. */
export async function importSnapshot(
  service: SessionService,
  scope: { app: string; userId: string },
  ref: SessionRef,
): Promise<SessionRecord> {
  const { id, log, initialState } = readSnapshot(ref);
  const key: SessionKey = { ...scope, id };
  if (!ref.fork) {
    const known = await service.get(key);
    if (known) return known;
  }
  const events = log.map(asEvent);
  const made = await service.create(ref.fork ? scope : key, { state: ref.state ?? initialState ?? {} });
  try {
    // A copy begins an audit chain of its own.
    const linked = new Chain().link(events);
    const copy = { ...made, lastSeq: linked.length, events: linked.map((event, n) => ({ ...event, seq: n + 1 })) };
    const settled = ref.fork ? settling(service)(copy) : [];
    if (events.length > 0) await service.append(made.key, [...linked, ...settled]);
  } catch (error) {
    // Half a session is none.
    await service.delete(made.key);
    throw error;
  }
  return (await service.get(made.key)) ?? made;
}

function readSnapshot({ snapshot }: SessionRef): {
  id: string;
  log: StoredEvent[];
  initialState?: Record<string, unknown>;
} {
  const { id, log, initialState } = guarded('open: snapshot', () => ({ ...snapshot }));
  if (log === undefined) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNSUPPORTED',
      'the snapshot has no log; it cannot be opened here',
    );
  }
  checkIs(id, 'open: snapshot.id', text);
  checkIs(log, 'open: snapshot.log', list);
  const copy = copyJson(log, 'open: snapshot.log', 2 * MAX_JSON_DEPTH);
  return { id: id as string, log: copy as StoredEvent[], ...(initialState ? { initialState } : {}) };
}

function asEvent(given: StoredEvent, index: number): StoredEvent {
  const where = `open: snapshot.log[${index}]`;
  checkIs(given, where, object);
  const { chain: _, ...event } = given;
  checkIs(event.actions, `${where}.actions`, object);
  const made = createEvent({ ...event, seq: 0 });
  const fault = faultOfEvent({ ...made });
  if (fault !== undefined) throw badInput(`${where} is no event: look at its ${fault}`);
  return made;
}
