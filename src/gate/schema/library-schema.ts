/** What a schema library finds wrong: the steps to a member, and why. */
export interface LibraryIssue {
  readonly path?: readonly unknown[] | undefined;
  readonly message: string;
}

export type LibraryResult = { value: unknown } | { issues: readonly LibraryIssue[] };

/** A schema's own check of a value, with its refinements and transforms. */
export type LibraryCheck = (value: unknown) => LibraryResult | Promise<LibraryResult>;

interface StandardSchema {
  readonly validate: (value: unknown) => LibraryResult | Promise<LibraryResult>;
}

/**
 * zod. Its Standard Schema tries without promises first: one that is rejected in that attempt is caught by nobody. Early
 * versions have no other check.
 */
interface SafeParse {
  safeParseAsync(
    value: unknown,
  ): Promise<{ success: true; data: unknown } | { success: false; error: { issues: readonly LibraryIssue[] } }>;
}

/** The check of a zod schema or another Standard Schema; undefined: its JSON Schema says it all. */
export function libraryCheck(schema: unknown): LibraryCheck | undefined {
  if (!isSchemaValue(schema)) return undefined;
  const { '~standard': standard, safeParseAsync } = schema as { '~standard'?: unknown } & Partial<SafeParse>;
  if (typeof safeParseAsync === 'function') {
    return async (value) => {
      const parsed = await (schema as SafeParse).safeParseAsync(value);
      return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
    };
  }
  const isStandard = isSchemaValue(standard) && 'validate' in standard && typeof standard.validate === 'function';
  return isStandard ? (value) => (standard as StandardSchema).validate(value) : undefined;
}

/** Some libraries make their schemas of functions. */
export const isSchemaValue = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
