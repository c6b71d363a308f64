interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of a union: what each of its members found. */
  readonly errors?: readonly (readonly Issue[])[];
}

const MAX_FAULTS = 3;

/** What a schema found, in one line: `error.retryable is missing`. */
export function schemaFault(what: string, issues: readonly Issue[] = []): string {
  const faults = issues.flatMap(ofTheMeant).map(({ path, message }) => {
    const place = [what, ...path.map(String)].join('.');
    return /received undefined$/.test(message)
      ? `${place} is missing`
      : `${place}: ${message.replace(/^Invalid input: /, '')}`;
  });
  const shown = faults.slice(0, MAX_FAULTS).join('; ');
  return faults.length > MAX_FAULTS ? `${shown}; and ${faults.length - MAX_FAULTS} more` : shown;
}

/** Of a union the member counts that was meant: of the same type, and with the fewest faults. */
function ofTheMeant(issue: Issue): readonly Issue[] {
  const [meant] = (issue.errors ?? []).toSorted((a, b) => distance(a) - distance(b));
  if (!meant) return [issue];
  return meant.flatMap(ofTheMeant).map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

const distance = (issues: readonly Issue[]): number =>
  issues.length + (issues.some(({ path: [first] }) => first === 'type') ? 1_000 : 0);
