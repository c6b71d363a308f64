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

/** What to write instead, by the name that a library gives itself. */
const described: Readonly<Record<string, string>> = {
  valibot: 'give toStandardJsonSchema(schema), of @valibot/to-json-schema',
  effect:
    "give Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema)), or, of effect 3, { '~standard': { " +
    "...Schema.standardSchemaV1(schema)['~standard'], jsonSchema: { input: () => JSONSchema.make(schema) } } }",
};

/** Of a Standard Schema that models cannot be shown: what to do. */
export function saysNoJsonSchema(schema: object): string {
  const vendor = String((schema as { '~standard'?: { vendor?: unknown } })['~standard']?.vendor);
  const what = Object.hasOwn(described, vendor) ? described[vendor] : 'pass JSON Schema instead';
  return `a schema of ${vendor} says no JSON Schema by itself; ${what}`;
}

/** Some libraries make their schemas of functions. */
export const isSchemaValue = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
