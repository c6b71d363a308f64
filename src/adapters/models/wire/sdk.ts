import { CoxswainError } from '../../../contracts/index.ts';

/**
 * What to throw where a vendor's package could not be imported. The `import()` stands in the very `try`: bundlers leave
 * out a package that is not there only where they see that its absence is caught.
 */
export function notInstalled(name: string, cause: unknown): CoxswainError {
  const message = `install the package ${name} to use this model`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_MODEL_SETUP', message, { cause });
}

/**
 * @throws CoxswainError `FAILED_PRECONDITION / E_MODEL_SETUP` where there is neither a key nor an address of one's own,
 *   or one that cannot be used
 */
export function checkSetup(model: string, { apiKey, baseUrl }: { apiKey?: string; baseUrl?: string }): void {
  if (!apiKey && baseUrl === undefined) throw unusable(model, 'needs an apiKey, or a baseUrl that needs none');
  if (apiKey !== undefined && /[^\x21-\x7e]/.test(apiKey)) {
    throw unusable(
      model,
      'has an apiKey with white space or other characters that no key has; check how it was copied',
    );
  }
  if (baseUrl === undefined) return;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.username || url?.password) {
    throw unusable(model, 'has a baseUrl with a user name or password in it; give a key by apiKey, or by headers');
  }
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw unusable(model, `has the baseUrl ${JSON.stringify(baseUrl)}, which does not begin with http:// or https://`);
  }
}

function unusable(model: string, what: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_MODEL_SETUP', `model ${model} ${what}`);
}
