import type { SessionStanding } from '../../contracts/index.ts';
import { copyJson } from '../../contracts/index.ts';
import { strictestLimits } from '../../session/index.ts';
import { stricter } from './believed.ts';
import type { KnownCalls } from './known-calls.ts';

/**
 * What whoever goes on with a session is held to, by what the host noted and what its executor says. What tightens is
 * believed of the executor.
 */
export function jointStanding(
  said: SessionStanding | undefined,
  known: Pick<KnownCalls, 'terms' | 'turn' | 'mode'>,
): SessionStanding {
  const own = known.terms[known.turn];
  const theirs = said?.terms ?? {};
  const mode = stricter(known.mode, said?.permissionMode);
  const turns = stricter(own?.permissionMode, theirs.permissionMode);
  const excluded = [...new Set([...(own?.excludeTools ?? []), ...(theirs.excludeTools ?? [])])];
  return {
    isOver: said?.isOver ?? false,
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(own || said?.terms
      ? {
          terms: {
            ...theirs,
            ...own,
            limits: strictestLimits(own?.limits, theirs.limits),
            ...(turns === undefined ? {} : { permissionMode: turns }),
            ...(excluded.length > 0 ? { excludeTools: excluded } : {}),
          },
        }
      : {}),
  };
}

/** Of what it says that a session is held to, what is well-formed. */
export function standingIn(said: unknown): SessionStanding | undefined {
  if (typeof said !== 'object' || said === null) return undefined;
  let standing: SessionStanding;
  try {
    standing = copyJson(said, 'standing') as SessionStanding;
  } catch {
    return undefined;
  }
  const { isOver, terms } = standing as { isOver: unknown; terms?: Record<string, unknown> | null };
  const limits = Object.entries(typeof terms?.limits === 'object' ? (terms.limits ?? {}) : {});
  return {
    ...standing,
    isOver: isOver === true,
    ...(typeof terms === 'object' && terms !== null
      ? {
          terms: {
            ...terms,
            limits: Object.fromEntries(limits.filter(([, limit]) => typeof limit === 'number' && limit >= 0)),
            excludeTools: Array.isArray(terms.excludeTools)
              ? terms.excludeTools.filter((name) => typeof name === 'string')
              : [],
          },
        }
      : { terms: undefined }),
  } as SessionStanding;
}
