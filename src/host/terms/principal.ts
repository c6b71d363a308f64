import type { Principal } from '../../contracts/index.ts';

/**
 * What keeps an authenticator's answer from naming anybody; undefined: it names somebody. Without an id everybody would
 * be the same user, and roles that are one text would be matched by their parts.
 */
export function faultOfPrincipal(found: unknown): string | undefined {
  if (typeof found !== 'object' || found === null) return `a ${typeof found}, not {id, roles?}`;
  const { id, roles } = found as { [K in keyof Principal]: unknown };
  if (typeof id !== 'string' || id === '') return 'a principal whose id is no text';
  const rolesFit = roles === undefined || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'));
  return rolesFit ? undefined : 'a principal whose roles are no list of texts';
}
