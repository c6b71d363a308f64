import type * as KyselyModule from 'kysely';
import { CoxswainError, messageOf } from '../../../../contracts/index.ts';

/** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` with what to install */
export async function loadKysely(packages: readonly string[]): Promise<typeof KyselyModule> {
  try {
    return await import('kysely');
  } catch (error) {
    throw orAbsence(error, packages);
  }
}

/**
 * What to throw where a package could not be imported that only those need who use it. The `import()` stands in the very
 * `try`: bundlers leave out a package that is not there only where they see that its absence is caught.
 */
export function orAbsence(error: unknown, packages: readonly string[]): unknown {
  if (!absent.test(messageOf(error))) return error;
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this session store needs packages that are not installed: npm install ${packages.join(' ')}`,
    { cause: error, details: { packages } },
  );
}

/** As Node says it, and as what bundlers put in the place of such a package does. */
const absent = /^(Cannot find (module|package)|Could not resolve) /;
