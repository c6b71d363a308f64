import type { JsonSchema, SchemaLike } from '../../contracts/index.ts';
import { copyJson, messageOf } from '../../contracts/index.ts';
import { withEffort } from '../pattern/index.ts';
import { explainErrors, explainIssues } from './explain.ts';
import { libraryCheck } from './library-schema.ts';
import { toJsonSchema } from './schema.ts';
import { compileSchema } from './validator.ts';

export type ReadOutput = { ok: true; value: unknown } | { ok: false; message: string };

/** An agent's answer as the value that its output schema promises. Never throws. */
export function readOutput(schema: JsonSchema, text: string): ReadOutput {
  let value: unknown;
  try {
    value = JSON.parse(withoutFences(text));
  } catch (error) {
    return { ok: false, message: `it is not JSON (${messageOf(error)})` };
  }
  try {
    const matches = compileSchema(schema);
    return matches(value) ? { ok: true, value } : { ok: false, message: explainErrors(value, matches.errors) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

/** What an agent promises to answer with. */
export interface PromisedOutput {
  readonly outputSchema?: JsonSchema | undefined;
  /** What it was made from: its refinements are checked, too. Its transforms change nothing: the output is what was said. */
  readonly outputSource?: SchemaLike | undefined;
}

/**
 * As {@link readOutput}, with the schema's own check where it has one. Never throws or rejects. `owner`: all that is
 * read for it has one allowance.
 */
export function readPromised(
  { outputSchema = {}, outputSource }: PromisedOutput,
  text: string,
  owner?: object,
): ReadOutput | Promise<ReadOutput> {
  const read = withEffort(() => readOutput(outputSchema, text), owner);
  const check = read.ok ? libraryCheck(outputSource) : undefined;
  return read.ok && check ? checkedBy(check, read) : read;
}

async function checkedBy(
  check: NonNullable<ReturnType<typeof libraryCheck>>,
  read: Extract<ReadOutput, { ok: true }>,
): Promise<ReadOutput> {
  try {
    const result = await check(copyJson(read.value, 'the output'));
    const issues = 'issues' in result ? result.issues : undefined;
    return issues ? { ok: false, message: explainIssues(issues) } : read;
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

/**
 * Why a value does not fit a schema; undefined if it does. Its transforms change nothing. Never throws or rejects.
 */
export function valueFault(schema: SchemaLike, value: unknown): string | undefined | Promise<string | undefined> {
  try {
    const fault = withEffort(() => {
      const matches = compileSchema(toJsonSchema(schema, { anyRoot: true }));
      const copy = copyJson(value, 'the value');
      return matches(copy) ? undefined : explainErrors(copy, matches.errors);
    });
    const check = fault === undefined ? libraryCheck(schema) : undefined;
    if (!check) return fault;
    return checkedBy(check, { ok: true, value }).then((read) => (read.ok ? undefined : read.message));
  } catch (error) {
    return messageOf(error);
  }
}

const FENCE = '```';

/** Many models put what they were asked for between fences, whatever they were told. */
function withoutFences(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || trimmed.length < 2 * FENCE.length) return text;
  const inner = trimmed.slice(FENCE.length, -FENCE.length);
  const end = inner.indexOf('\n');
  return /^(?:json)?[ \t\r]*$/i.test(inner.slice(0, Math.max(0, end))) ? inner.slice(end + 1) : text;
}
