import { badInput, guarded, nearest } from '../../base/index.ts';
import type { Principal } from '../../contracts/index.ts';

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` unless it says who somebody is */
export function checkPrincipal(who: Principal, where: string): void {
  guarded(where, () => {
    const { id, roles } = ((who as Principal | null) ?? {}) as Partial<Record<keyof Principal, unknown>>;
    if (typeof id !== 'string' || id === '') throw badInput(`${where} is not {id: "who"}`);
    if (roles !== undefined) checkNames(roles, `${where}.roles`);
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
