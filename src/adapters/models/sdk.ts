import { CoxswainError } from '../../contracts/index.ts';

/** Loads a vendor's package, once it is needed. */
export async function loadSdk<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_MODEL_SETUP', `install the package ${name} to use this model`, {
      cause,
    });
  }
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` where there is neither a key nor an address of one's own */
export function requireKey(model: string, options: { apiKey?: string; baseUrl?: string }): void {
  if (options.apiKey || options.baseUrl !== undefined) return;
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_MODEL_SETUP',
    `model ${model} needs an apiKey, or a baseUrl that needs none`,
  );
}
