import { badInput, guarded, nearest } from '../../base/index.ts';
import type { Principal } from '../../contracts/index.ts';

/**
 * The member that keeps a principal from naming anybody, or that the log could not give back. Without an id everybody
 * would be the same user; so would all who act for somebody without a name.
 */
export function unfitOfPrincipal(who: object): keyof Principal | undefined {
  const { id, roles, onBehalfOf } = who as { [K in keyof Principal]: unknown };
  if (!isName(id)) return 'id';
  if (roles !== undefined && !(Array.isArray(roles) && roles.every((role) => typeof role === 'string'))) return 'roles';
  return onBehalfOf === undefined || isName(onBehalfOf) ? undefined : 'onBehalfOf';
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` unless it says who somebody is */
export function checkPrincipal(who: Principal, where: string): void {
  guarded(where, () => {
    const unfit = unfitOfPrincipal((who as Principal | null) ?? {});
    if (unfit === 'id') throw badInput(`${where} is not {id: "who"}`);
    if (unfit === 'roles') throw badInput(`${where}.roles is not a list of names`);
    if (unfit !== undefined)
      throw badInput(`${where}.${unfit} is not the id of somebody; leave it out where there is none`);
  });
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` unless it is a list of names: one text is a list of letters */
export function checkNames(names: unknown, where: string): void {
  guarded(where, () => {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
      throw badInput(`${where} is not a list of names`);
  });
}

const LIMITS = ['steps', 'usd', 'tokens', 'minutes'];

/**
 * Limits of other versions are let through; one that is misspelt is not.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` unless each is a number: what is none would limit nothing
 */
export function checkLimits(limits: unknown, where: string): void {
  guarded(where, () => {
    if (typeof limits !== 'object' || limits === null) throw badInput(`${where} is not an object of numbers`);
    for (const [name, value] of Object.entries(limits)) {
      const meant = LIMITS.includes(name) ? undefined : nearest(name, LIMITS);
      if (meant !== undefined) throw badInput(`${where}.${name} would limit nothing; it is called ${meant}`);
      if (value !== undefined && !(typeof value === 'number' && value >= 0))
        throw badInput(`${where}.${name} is not a number from 0`);
    }
  });
}
