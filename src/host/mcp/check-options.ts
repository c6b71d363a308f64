import { CoxswainError } from '../../contracts/index.ts';

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for an option that is no number above 0 */
export function checkNumbers(options: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    throw bad(`${name} is ${String(value)}; it is a number above 0`);
  }
}

/** As they are compared: names without scheme and port. */
export function hostNames(option: string, names: readonly string[]): string[] {
  return names.map((name) => {
    const url = URL.canParse(`http://${name}`) ? new URL(`http://${name}`) : undefined;
    if (url?.hostname === name.toLowerCase()) return url.hostname;
    throw bad(
      `${option} has ${JSON.stringify(name)}; it takes names of hosts, without scheme and port: agents.example`,
    );
  });
}

/** Whole origins (`https://app.example`), and names of hosts whose pages are let in whatever their scheme and port. */
export function pagesOf(option: string, entries: readonly string[]): { origins: Set<string>; names: string[] } {
  const whole = entries.filter((entry) => entry.includes('://'));
  const wrong = whole.find((entry) => !URL.canParse(entry) || new URL(entry).origin !== entry.toLowerCase());
  if (wrong !== undefined) throw bad(`${option} has ${JSON.stringify(wrong)}; an origin is like https://app.example`);
  return {
    origins: new Set(whole.map((entry) => new URL(entry).origin)),
    names: hostNames(
      option,
      entries.filter((entry) => !entry.includes('://')),
    ),
  };
}

export function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `MCP: ${message}`);
}
