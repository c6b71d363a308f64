import { hash } from 'node:crypto';
import { deepFreeze, parseJson } from '../../contracts/index.ts';
import type { ChainState, FoldState } from '../log/index.ts';
import type { SessionKey, SessionRecord, SessionService, StoredCheckpoint } from '../store/index.ts';

/** Of the shapes and of what the fold makes of a log: one of another version is not read. */
const VERSION = 3;
/** Characters; reading a longer one would hold the event loop for as long as the pages of the log that it saves. */
const MAX_LENGTH = 500_000;

/** What a log has come to up to one of its events: whoever opens the session reads only what follows. */
export interface Checkpoint {
  /** The event at `fold.seq`. */
  readonly eventId: string;
  readonly fold: FoldState;
  readonly chain: ChainState;
}

/** Undefined: it is too large to be of use. */
export function storedForm(key: SessionKey, createdAt: number, checkpoint: Checkpoint): StoredCheckpoint | undefined {
  const data = JSON.stringify({ version: VERSION, ...checkpoint });
  if (data.length > MAX_LENGTH) return undefined;
  return { seq: checkpoint.fold.seq, digest: digestOf(key, createdAt, data), data };
}

/** Undefined for one of another session, of another version, or that is not as it was written. */
export function readCheckpoint(
  key: SessionKey,
  createdAt: number,
  { seq, digest, data }: StoredCheckpoint,
): Checkpoint | undefined {
  if (data.length > MAX_LENGTH || digestOf(key, createdAt, data) !== digest) return undefined;
  const checkpoint = parseJson(data) as Checkpoint & { version: number };
  return checkpoint.version === VERSION && checkpoint.fold.seq === seq ? deepFreeze(checkpoint) : undefined;
}

/** The newest of a session that fits its log; undefined where there is none, or the log must be read for any reason. */
export async function newestCheckpoint(
  service: SessionService,
  key: SessionKey,
  createdAt: number,
): Promise<Checkpoint | undefined> {
  const stored = await service.checkpoints?.newest(key);
  return stored && readCheckpoint(key, createdAt, stored);
}

/**
 * Gives the copy of a log what is known of the original: the events up to there are the same ones. One that goes
 * further than the copy does not fit it, and is passed by when the copy is opened.
 */
export async function handOn(service: SessionService, source: SessionKey, copy: SessionRecord): Promise<void> {
  const from = await service.get(source, { limit: 0 });
  const checkpoint = from && (await newestCheckpoint(service, source, from.createdAt));
  const stored = checkpoint && storedForm(copy.key, copy.createdAt, checkpoint);
  if (stored) await service.checkpoints?.keep(copy.key, stored);
}

function digestOf({ app, userId, id }: SessionKey, createdAt: number, data: string): string {
  return hash('sha256', `${JSON.stringify([app, userId, id, createdAt])}\n${data}`, 'base64url');
}
