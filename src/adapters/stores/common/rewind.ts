import { CoxswainError, isCoxswainError } from '../../../contracts/index.ts';
import type { SessionKey, SessionService, StoredEvent } from '../../../runtime/index.ts';
import {
  abandoned,
  checkKey,
  createEvent,
  deltaBackTo,
  effectiveEvents,
  LiveSession,
  openCallChanges,
  responseEvent,
  sessionService,
  wholeNumber,
} from '../../../runtime/index.ts';
import { checkIs, count, guarded, list } from '../../../session/index.ts';

const TRIES = 5;

/** seq of the last event before each turn that counts, oldest first: the places that a session can be rewound to. */
export function turnStarts(events: readonly StoredEvent[]): number[] {
  checkIs(events, 'turnStarts: events', list);
  const effective = guarded('turnStarts: events', () => effectiveEvents(events));
  return effective.flatMap(({ actions }, at) => (actions.turn ? [effective[at - 1]?.seq ?? 0] : []));
}

/**
 * Takes a session back to where one of its turns began: `through` is the seq of the last event that still counts.
 *
 * The log only grows. What is open in the turns that are undone is settled, then a marker says what no longer
 * counts; its delta brings the session's own state back. Shared state, settings and artifacts stay as they are. The
 * session must be idle: its lease is taken meanwhile.
 * @returns the marker, or undefined if there was nothing to take back
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` (no turn begins there), `ABORTED / E_SESSION_BUSY`,
 *   `NOT_FOUND / E_SESSION_NOT_FOUND`
 */
export async function rewind(
  service: SessionService,
  key: SessionKey,
  through: number,
): Promise<StoredEvent | undefined> {
  checkIs(service, 'rewind: service', sessionService);
  checkKey(key);
  checkIs(through, 'rewind: through', count);
  wholeNumber('through', through);
  const lease = await service.acquire(key);
  try {
    const live = await LiveSession.open(service, key);
    await live.whole();
    for (let tries = 1; ; tries++) {
      const { at } = live.fold;
      const next = live.since(through)[0];
      if (!next && through === at) return undefined;
      if (!next?.actions.turn) throw noTurn(through, turnStarts(live.log));
      const events = [...settled(live, through), marker(live, through)];
      try {
        const stored = await service.append(key, live.link(events), { epoch: lease.epoch, expectedSeq: at });
        await live.catchUp();
        return stored.at(-1);
      } catch (error) {
        // An answer or an update came in between.
        if (!isCoxswainError(error) || error.code !== 'E_SESSION_CONFLICT' || tries === TRIES) throw error;
        await live.catchUp();
      }
    }
  } finally {
    await lease.release();
  }
}

function marker({ initialState, log }: LiveSession, through: number): StoredEvent {
  const stateDelta = deltaBackTo(initialState, log, through);
  return createEvent({ author: 'user', actions: { stateDelta, rewound: { through } } });
}

/** Whoever follows the log sees each request settled and the turn ended before both go. */
function settled({ fold, log }: LiveSession, through: number): StoredEvent[] {
  const before = openCallChanges(log.filter(({ seq }) => seq <= through)).opened.map(({ callId }) => callId);
  const calls = [...fold.open.values()].filter(({ id }) => !before.includes(id.toWellFormed())).reverse();
  const why = 'the session was rewound to before it';
  const origin = { streamId: '', invocationId: '' };
  const events = calls.map((call) => responseEvent(call, abandoned(call, why), origin));
  const { turn } = fold;
  if (turn && turn.seq > through && turn.ended === undefined) {
    const end = { reason: 'aborted' };
    events.push(createEvent({ turnId: turn.id, author: fold.occupant ?? turn.start, actions: { end } }));
  }
  return events;
}

function noTurn(through: number, starts: readonly number[]): CoxswainError {
  return new CoxswainError(
    'INVALID_ARGUMENT',
    'E_BAD_INPUT',
    `no turn begins after seq ${through}: give one of ${starts.slice(-20).join(', ') || 'none, there is no turn'}`,
    { details: { through, starts } },
  );
}
