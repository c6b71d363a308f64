import { CoxswainError } from '../contracts/index.ts';

/**
 * The end of a choice over a closed union: a member that is added to the union and forgotten here does not compile.
 * @throws CoxswainError `INTERNAL / E_INTERNAL` for a value that its type does not have: it came from elsewhere
 */
export function unreachable(value: never, what: string): never {
  throw new CoxswainError('INTERNAL', 'E_INTERNAL', `${what} is none that is known here: ${nameOf(value)}`);
}

/** Which member of its union it would be: the rest may hold anything. */
function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { kind, type, op } = value as Record<string, unknown>;
  return String(kind ?? type ?? op);
}
