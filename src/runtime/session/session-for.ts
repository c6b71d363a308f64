import { checkOptions, text } from '../../base/index.ts';
import type { SessionRef } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { parseCursor } from '../../session/resume/index.ts';
import { LiveSession } from '../live/index.ts';
import type { ArtifactService } from '../services/index.ts';
import { copySession } from '../services/index.ts';
import type { SessionKey, SessionRecord, SessionService } from '../store/index.ts';
import { settling } from '../store/index.ts';

/** What a copied session takes along, and who hears where that fails. */
export interface CopyParts {
  artifacts: ArtifactService | undefined;
  warn: (message: string, error?: unknown) => void;
}

/** The session that a reference means: found, made, copied, or imported as whoever knows the form of a snapshot does. */
export async function sessionFor(
  service: SessionService,
  scope: { app: string; userId: string },
  ref: SessionRef,
  imported: () => Promise<SessionRecord>,
  parts: CopyParts,
): Promise<LiveSession> {
  if (ref.snapshot) return LiveSession.of(service, await imported());
  const id = ref.sessionId;
  const state = ref.state ? { state: ref.state } : {};
  if (id === undefined) return LiveSession.of(service, await service.create(scope, state));
  const key = { ...scope, id };
  const copy = ref.fork ? await forkOf(service, key, ref.fork, parts) : undefined;
  if (copy) return LiveSession.copied(service, key, copy);
  const found = await LiveSession.find(service, key);
  if (found) return found;
  if (!ref.create) throw notFound(key);
  try {
    return LiveSession.of(service, await service.create(key, state));
  } catch (error) {
    // Somebody else made it meanwhile.
    if (isCoxswainError(error) && error.code === 'E_SESSION_EXISTS') return LiveSession.open(service, key);
    throw error;
  }
}

/**
 * A copy of a session up to one of its events. What is open in it ends, and its settings are those that the session has
 * now: a mode that was taken back does not come back with an older moment.
 */
export async function forkAt(
  service: SessionService,
  { artifacts, warn }: CopyParts,
  key: SessionKey,
  options: { id?: string; through?: number } = {},
): Promise<SessionRecord> {
  const { through } = options;
  const config = through === undefined ? undefined : (await LiveSession.find(service, key))?.fold.config;
  // A store of somebody else's may know of no default.
  return copySession(service, artifacts, key, { ...options, settle: settling(service, config) }, warn);
}

/** Undefined: there is nothing to copy. */
async function forkOf(
  service: SessionService,
  key: SessionKey,
  fork: true | { after?: string },
  parts: CopyParts,
): Promise<SessionRecord | undefined> {
  const found = await service.get(key, { limit: 0 });
  if (!found) return undefined;
  const after = forkedAt(fork);
  if (after === undefined) return forkAt(service, parts, key);
  const through = parseCursor(after)?.seq;
  if (through !== undefined && through <= found.lastSeq) return forkAt(service, parts, key, { through });
  const message = `${JSON.stringify(after.slice(0, 64))} is no cursor of session ${key.id}; fork.after is the cursor of one of its events`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

function forkedAt(fork: true | { after?: string }): string | undefined {
  if (fork === true) return undefined;
  checkOptions<typeof fork>(fork, 'open: fork', { after: text });
  return fork.after;
}

function notFound({ app, userId, id }: SessionKey): CoxswainError {
  return new CoxswainError(
    'NOT_FOUND',
    'E_SESSION_NOT_FOUND',
    `app ${app} has no session ${id} of user ${userId}; pass create: true to make it, or list what is there`,
  );
}
