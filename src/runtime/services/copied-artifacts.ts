import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { ForkOptions, SessionKey, SessionRecord, SessionService, Settle } from '../store/index.ts';
import { checkKey, settling, wholeNumber } from '../store/index.ts';
import type { ArtifactService } from './artifact-service.ts';
import { artifactPlace } from './artifact-service.ts';

/** Versions of files of a session, by name of the file. */
export type ArtifactVersions = Readonly<Record<string, readonly number[]>>;

/**
 * Copies a session, and of its artifacts those versions that the copied log names: with results that were cut, what
 * was cut off them. An artifact service that cannot copy, or fails, leaves a copy without them, which readers of results are
 * told of.
 */
export async function copySession(
  sessions: SessionService,
  artifacts: ArtifactService | undefined,
  source: SessionKey,
  options: ForkOptions,
  warn: (message: string, error?: unknown) => void,
): Promise<SessionRecord> {
  const { settle = settling(sessions) } = options;
  if (!artifacts?.copy) return sessions.fork(source, { ...options, settle });
  const named = new Map<string, Set<number>>();
  const record = await sessions.fork(source, { ...options, settle: noting(settle, named) });
  if (named.size === 0) return record;
  try {
    await artifacts.copy(source, record.key, Object.fromEntries([...named].map(([name, all]) => [name, [...all]])));
  } catch (error) {
    warn(`the artifacts of session ${source.id} were not copied to ${record.key.id}: ${messageOf(error)}`, error);
  }
  return record;
}

/** The same, which remembers the artifacts of the session that the events name. Those of the user are in no session. */
function noting(settle: Settle, named: Map<string, Set<number>>): Settle {
  const note = (events: readonly StoredEvent[]) => {
    for (const { actions } of events) {
      for (const [name, version] of Object.entries(actions.artifactDelta)) {
        if (name.startsWith('user:')) continue;
        const versions = named.get(name) ?? new Set();
        named.set(name, versions.add(version));
      }
    }
  };
  const noted: Settle = (copy) => {
    note(copy.events);
    return settle(copy);
  };
  const { inPages } = settle;
  if (!inPages) return noted;
  noted.inPages = (initialState) => {
    const pages = inPages.call(settle, initialState);
    return {
      see(events, counting) {
        note(events);
        pages.see(events, counting);
      },
      end: () => pages.end(),
    };
  };
  return noted;
}

/**
 * What is to be copied, checked once for all backends. Files of the user are in all sessions already.
 * @throws CoxswainError `INVALID_ARGUMENT / E_ID`; `E_BAD_INPUT` for sessions of two users, or of two apps, and for a
 *   version that is no whole number
 */
export function copiedVersions(
  source: SessionKey,
  target: SessionKey,
  files: ArtifactVersions,
): (readonly [name: string, versions: readonly number[]])[] {
  checkKey(source);
  checkKey(target);
  if (source.app !== target.app || source.userId !== target.userId) {
    const message = `artifacts are copied between sessions of one user; ${source.id} and ${target.id} are of two`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
  }
  return Object.entries(files).flatMap(([name, versions]) => {
    if (artifactPlace(source, name).isUser) return [];
    for (const version of versions) wholeNumber('version', version);
    return [[name, versions.filter((version) => version > 0)] as const];
  });
}
