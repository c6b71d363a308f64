/** What a client says that it has of a session. */
export interface ClaimedPosition {
  /** Of the numbering of frames. */
  epoch?: string | undefined;
  /** Of the newest frame that it has. */
  offset?: number | undefined;
  /** Of the newest durable event that it has. */
  cursor?: string | undefined;
  /** False: nothing that was before; live frames only. Default true. */
  history?: boolean | undefined;
}

/** What a server has to send: numbered frames, of which the newest are kept, and the log behind them. */
export interface FrameStore {
  readonly epoch: string;
  /** Offsets of the oldest and newest frame that are kept. */
  readonly ring: { readonly first: number; readonly head: number };
  /** The newest durable event, and the offset of its frame. */
  readonly durable: { readonly cursor: string | undefined; readonly offset: number };
}

/** From where a watcher is sent what it lacks. */
export interface StartPlace {
  /** Exactly the missing frames follow; false: durable history, then frames. */
  recovered: boolean;
  /** Frames behind this one follow. */
  offset: number;
  /** Cursor behind which history is read. */
  after: string | undefined;
  /** Cursor up to which it is read; what is newer comes as frames. */
  until: string | undefined;
}

/** Where a client is put that comes back, or comes anew. */
export function resumePlace(position: ClaimedPosition, store: FrameStore): StartPlace {
  const { epoch, ring, durable } = store;
  const { offset, history = true } = position;
  const recovered = position.epoch === epoch && offset !== undefined && offset >= ring.first - 1 && offset <= ring.head;
  if (recovered) return { recovered, offset, after: position.cursor, until: durable.cursor };
  return { ...restartPlace(store, history ? position.cursor : durable.cursor), recovered };
}

/** Where one is put whose frames are not kept any more: its history goes on behind `after`. */
export function restartPlace({ ring, durable }: FrameStore, after: string | undefined): StartPlace {
  return { recovered: false, offset: Math.max(durable.offset, ring.first - 1), after, until: durable.cursor };
}

/** What a client claims when it comes back; `isWhole`: it has all that its offset says. */
export function claimOf(
  { epoch, offset, cursor }: { epoch: string; offset: number; cursor: string | undefined },
  isWhole: boolean,
): ClaimedPosition {
  return { ...(isWhole ? { epoch, offset } : {}), ...(cursor === undefined ? {} : { cursor }) };
}
