import { CoxswainError, messageOf } from '../../contracts/index.ts';

/** What to throw where a package could not be imported that only those need who use it. */
export function orMissing(error: unknown, packages: string): unknown {
  if (!/^(Cannot find (module|package)|Could not resolve) /.test(messageOf(error))) return error;
  const message = `this needs packages that are not installed: npm install ${packages}`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message, { cause: error });
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_STORE_URL` */
export function checkUrl(url: unknown, where: string, schemes: readonly string[]): string {
  const scheme = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol.slice(0, -1) : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return url as string;
  const message = `${where} needs a URL of ${schemes.map((one) => `${one}://`).join(' or ')}`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_STORE_URL', message);
}
