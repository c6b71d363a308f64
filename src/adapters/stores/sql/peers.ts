import { CoxswainError } from '../../../contracts/index.ts';

/**
 * A package that only those need who use it.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` with what to install
 */
export async function loadPeer<T>(packages: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_STORE',
      `this session store needs packages that are not installed: npm install ${packages.join(' ')}`,
      { cause: error, details: { packages } },
    );
  }
}
