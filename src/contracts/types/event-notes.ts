import type { EventBase } from './events.ts';

/**
 * What the events of this package say in `_meta`: the names are the contract's, the values an executor's own word, to be
 * looked at before they are used.
 */
export interface EventNotes {
  /** Of a message: what its parts, while it grows, have in common. */
  readonly messageId?: unknown;
  /** Of a part of a message that grows: which of its content it continues. */
  readonly part?: unknown;
  /** Of a message: the `messageId` of what it stands for. */
  readonly replaces?: unknown;
  /** Of a person's message: it was added to a running turn. */
  readonly steer?: unknown;
  /** Nobody is asked about the result. */
  readonly skipSummarization?: unknown;
  /** Of a tool request: what the model wrote, where that is not what runs. */
  readonly rawArgs?: unknown;
  /** Of a tool request: hooks of the agent have seen it. */
  readonly hooked?: unknown;
}

const none: EventNotes = Object.freeze({});

export function notesOf({ _meta }: Pick<EventBase, '_meta'>): EventNotes {
  return _meta ?? none;
}
