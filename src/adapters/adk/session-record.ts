import type { SessionRef } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { SessionKey, SessionRecord, SessionService } from '../../runtime/index.ts';
import { checkOptions, text } from '../../session/index.ts';
import { parseCursor } from './project.ts';
import { settling } from './settling.ts';
import { importSnapshot } from './snapshot.ts';

/** The session that a reference means: found, made, imported or copied. */
export async function recordFor(
  service: SessionService,
  scope: { app: string; userId: string },
  ref: SessionRef,
): Promise<SessionRecord> {
  if (ref.snapshot) return importSnapshot(service, scope, ref);
  const id = ref.sessionId;
  if (id === undefined) return service.create(scope, ref.state ? { state: ref.state } : {});
  const key = { ...scope, id };
  const found = await service.get(key);
  if (found && ref.fork) {
    const after = forkedAt(ref.fork);
    const settle = settling(service);
    if (after === undefined) return service.fork(key, { settle });
    const through = parseCursor(after)?.seq;
    if (through !== undefined && through <= found.lastSeq) return service.fork(key, { through, settle });
    const message = `${JSON.stringify(after.slice(0, 64))} is no cursor of session ${id}; fork.after is the cursor of one of its events`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  if (found) return found;
  if (!ref.create) throw notFound(key);
  try {
    return await service.create(key, ref.state ? { state: ref.state } : {});
  } catch (error) {
    // Somebody else made it meanwhile.
    const made = isCoxswainError(error) && error.code === 'E_SESSION_EXISTS' ? await service.get(key) : undefined;
    if (!made) throw error;
    return made;
  }
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
