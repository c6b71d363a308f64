import type { AgentEvent } from 'coxswain/client';

/** One key of a session's state, changed by one event. */
export interface StateChange {
  key: string;
  /** As the change left it; absent: it was deleted. */
  to?: unknown;
  at: string;
  seq: number;
  eventId: string;
  agentId?: string;
  /** It no longer counts: the session was rewound to before it. */
  isUndone: boolean;
}

/** Keys of these scopes belong to more than the session: to rewind it does not take them back. */
const isShared = (key: string) => key.startsWith('app:') || key.startsWith('user:');

/** A session's state as its events change it. */
export class StateFold {
  /** Keys that an event has changed, with their values; without those that it deleted. */
  readonly values = new Map<string, unknown>();
  readonly changes: StateChange[] = [];

  take(event: AgentEvent): void {
    if (event.type === 'session_update') {
      const { stateDelta = {}, timestamp: at, seq = 0, id: eventId, agentId } = event;
      for (const [key, value] of Object.entries(stateDelta)) {
        const base = { key, at, seq, eventId, isUndone: false, ...(agentId === undefined ? {} : { agentId }) };
        const change: StateChange = value === null ? base : { ...base, to: value };
        this.changes.push(change);
        this.#apply(change);
      }
    } else if (event.type === 'custom' && event.kind === 'rewound') this.#rewind(event.data.through, event.seq);
  }

  #apply(change: StateChange): void {
    if ('to' in change) this.values.set(change.key, change.to);
    else this.values.delete(change.key);
  }

  /** `by`: seq of the event that says so; what it changes itself counts. */
  #rewind(through: number, by = Number.POSITIVE_INFINITY): void {
    const isCut = ({ seq, key }: StateChange) => seq > through && seq < by && !isShared(key);
    for (const change of this.changes) if (isCut(change)) change.isUndone = true;
    this.values.clear();
    for (const change of this.changes) if (!change.isUndone) this.#apply(change);
  }
}
