import { untilAborted } from '../../base/index.ts';
import type { JsonSchema, SchemaLike } from '../../contracts/index.ts';
import { copyJson, isSameJson, messageOf } from '../../contracts/index.ts';
import { dropRefusedNulls, parseMistypedStrings, parseWhole } from './coerce.ts';
import { explainErrors, explainIssues } from './explain.ts';
import type { LibraryCheck, LibraryResult } from './library-schema.ts';
import { libraryCheck } from './library-schema.ts';
import { compileSchema } from './validator.ts';

export interface ArgumentsSchema {
  /** As `describeTool` gives it. */
  inputSchema: JsonSchema;
  /** What it was made from: its refinements are checked too, and its transforms applied. */
  source?: SchemaLike | undefined;
}

type Args = Record<string, unknown>;
export type ValidatedArgs = { ok: true; args: Args } | { ok: false; message: string };

/** A string may hold an array of strings that hold numbers; deeper wrapping is no accident. */
const COERCION_ROUNDS = 3;

/**
 * Checks arguments and gives what policy, people and the handler get: an independent copy with defaults filled in and
 * the schema's transforms applied; the caller's value is never changed. Strings that hold the JSON of what was
 * expected (`"5"`, `"[\"a\"]"`, the arguments as a whole) are parsed, and a null for an optional member that takes none
 * is left out, only where they did not fit and only if everything fits then. Otherwise the message tells a model what to
 * correct. A promise only where the schema's own check gives one.
 *
 * The output must be a JSON object that the schema takes and leaves as it is: it may be checked again, after an edit
 * or a restart, and must be the same then. Never throws or rejects: arguments that are no JSON object, or nested
 * deeper than 200 levels, and schemas that cannot be checked are answers too.
 */
export function validateArgs(tool: { inputSchema: JsonSchema; source?: undefined }, args: unknown): ValidatedArgs;
export function validateArgs(tool: ArgumentsSchema, args: unknown): ValidatedArgs | Promise<ValidatedArgs>;
export function validateArgs(tool: ArgumentsSchema, args: unknown): ValidatedArgs | Promise<ValidatedArgs> {
  try {
    const checked = validate(tool.inputSchema, args);
    const check = checked.ok ? libraryCheck(tool.source) : undefined;
    if (!checked.ok || !check) return checked;
    const output = outputOf(check, tool.inputSchema, checked.args);
    return output instanceof Promise ? output.catch((error: unknown) => fail(messageOf(error))) : output;
  } catch (error) {
    return fail(messageOf(error));
  }
}

function validate(schema: JsonSchema, given: unknown): ValidatedArgs {
  const input = typeof given === 'string' ? parseWhole(given) : given;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return fail(
      `arguments: expected object, got ${Array.isArray(input) ? 'array' : input === null ? 'null' : typeof input}`,
    );
  }
  const matches = compileSchema(schema);
  const args = copyJson(input, 'arguments') as Args;
  if (matches(args)) return { ok: true, args };
  const errors = matches.errors;
  const coerced = copyJson(input, 'arguments') as Args;
  let fits = false;
  for (let round = 0; round < COERCION_ROUNDS && !fits; round++) {
    // Before any text is read as null.
    const isDropped = dropRefusedNulls(coerced, matches.errors);
    if (!parseMistypedStrings(coerced, matches.errors) && !isDropped) break;
    fits = matches(coerced);
  }
  // Parsed strings may have brought more depth than the whole may have.
  return fits ? { ok: true, args: copyJson(coerced, 'arguments') } : fail(explainErrors(args, errors));
}

/** The schema's own word: refused, as it is, or changed into something that it takes as it is. */
function outputOf(check: LibraryCheck, schema: JsonSchema, args: Args): ValidatedArgs | Promise<ValidatedArgs> {
  // Its own copy: a check that changes what it is given is one that transforms.
  return then(check(copyJson(args, 'arguments')), (result) => {
    if (isRefused(result)) return fail(explainIssues(result.issues));
    const output = jsonOutput(result.value);
    if (isSameJson(output, args)) return { ok: true, args: output };
    const again = copyJson(output, 'arguments');
    if (!compileSchema(schema)(again) || !isSameJson(again, output)) return unstable;
    return then(check(copyJson(output, 'arguments')), (second) =>
      !isRefused(second) && isSameJson(jsonOutput(second.value), output) ? { ok: true, args: output } : unstable,
    );
  });
}

const isRefused = (
  result: LibraryResult,
): result is { issues: Extract<LibraryResult, { issues: unknown }>['issues'] } =>
  'issues' in result && result.issues !== undefined;

function jsonOutput(value: unknown): Args {
  const output: unknown = copyJson(value, "the output of the tool's schema");
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) return output as Args;
  throw new TypeError("the output of the tool's schema is no object");
}

/** What a check comes to: a no where nobody waits for it any longer. */
export function validatedInTime(
  checked: ValidatedArgs | Promise<ValidatedArgs>,
  signal: AbortSignal | undefined,
): ValidatedArgs | Promise<ValidatedArgs> {
  if (!(checked instanceof Promise)) return checked;
  return untilAborted(checked, signal).catch((reason: unknown) => fail(`aborted: ${messageOf(reason)}`));
}

const fail = (message: string): ValidatedArgs => ({ ok: false, message });

const unstable = fail(
  "the tool's schema does not take its own output: policy and people decide on what runs, so that a transform must give " +
    "what the schema takes and leaves as it is (other transforms belong into the tool's handler)",
);

function then<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Also one of a library's own making. */
const isPromise = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof (value as Partial<PromiseLike<T>> | undefined)?.then === 'function';
