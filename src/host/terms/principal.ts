import type { Principal } from '../../contracts/index.ts';
import { unfitOfPrincipal } from '../../session/index.ts';

/**
 * What keeps an authenticator's answer from naming anybody; undefined: it names somebody. Without an id everybody would
 * be the same user, and roles that are one text would be matched by their parts.
 */
export function faultOfPrincipal(found: unknown): string | undefined {
  if (typeof found !== 'object' || found === null) return `a ${typeof found}, not {id, roles?}`;
  const unfit = unfitOfPrincipal(found);
  return unfit && `a principal whose ${unfit} ${faults[unfit]}`;
}

const faults: Readonly<Record<keyof Principal, string>> = {
  id: 'is no text',
  roles: 'are no list of texts',
  onBehalfOf: 'is no text; where there is nobody it is left out',
};
