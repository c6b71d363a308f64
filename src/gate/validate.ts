import type { JsonSchema, SchemaLike } from '../contracts/index.ts';
import { copyJson, messageOf } from '../contracts/index.ts';
import { parseMistypedStrings } from './coerce.ts';
import { explainErrors, explainIssues } from './explain.ts';
import { compileSchema } from './validator.ts';
import { isZod } from './zod-schema.ts';

export interface ArgumentsSchema {
  /** As `describeTool` gives it. */
  inputSchema: JsonSchema;
  /** What it was made from: a zod schema's refinements are checked too. */
  source?: SchemaLike | undefined;
}

export type ValidatedArgs = { ok: true; args: Record<string, unknown> } | { ok: false; message: string };

/** A string may hold an array of strings that hold numbers; deeper wrapping is no accident. */
const COERCION_ROUNDS = 3;

/**
 * Checks arguments and gives an independent copy with defaults filled in; the caller's value is never changed.
 * Strings that hold the JSON of what was expected (`"5"`, `"[\"a\"]"`) are parsed, only where their type was wrong
 * and only if everything fits then. Otherwise the message tells a model what to correct.
 *
 * Never throws: arguments that are no JSON object, or nested deeper than 200 levels, and schemas that cannot be
 * checked are answers too. Refinements must be synchronous.
 */
export function validateArgs(tool: ArgumentsSchema, args: unknown): ValidatedArgs {
  try {
    return validate(tool, args);
  } catch (error) {
    return fail(messageOf(error));
  }
}

function validate(tool: ArgumentsSchema, input: unknown): ValidatedArgs {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return fail(
      `arguments: expected object, got ${Array.isArray(input) ? 'array' : input === null ? 'null' : typeof input}`,
    );
  }
  const matches = compileSchema(tool.inputSchema);
  let args = copyJson(input, 'arguments') as Record<string, unknown>;
  if (!matches(args)) {
    const errors = matches.errors ?? [];
    const coerced = copyJson(input, 'arguments') as Record<string, unknown>;
    let fits = false;
    for (let round = 0; round < COERCION_ROUNDS && !fits; round++) {
      if (!parseMistypedStrings(coerced, matches.errors ?? [])) break;
      fits = matches(coerced);
    }
    if (!fits) return fail(explainErrors(args, errors));
    // Parsed strings may have brought more depth than the whole may have.
    args = copyJson(coerced, 'arguments');
  }
  const { source } = tool;
  if (isZod(source)) {
    const parsed = source.safeParse(args);
    if (!parsed.success) return fail(explainIssues(parsed.error.issues));
  }
  return { ok: true, args };
}

const fail = (message: string): ValidatedArgs => ({ ok: false, message });

/**
 * What a handler is given for validated arguments: the output of a zod schema (transforms applied, unknown members
 * stripped), or a copy of the arguments, which is the handler's own.
 * @throws CoxswainError never for arguments that `validateArgs` accepted; otherwise the schema's own error
 */
export function parseForHandler(source: SchemaLike | undefined, args: Record<string, unknown>): unknown {
  if (!isZod(source)) return copyJson(args, 'arguments');
  const parsed = source.safeParse(args);
  if (!parsed.success) throw parsed.error;
  return parsed.data;
}
