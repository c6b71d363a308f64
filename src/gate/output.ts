import type { JsonSchema } from '../contracts/index.ts';
import { messageOf } from '../contracts/index.ts';
import { explainErrors } from './explain.ts';
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

const FENCE = '```';

/** Many models put what they were asked for between fences, whatever they were told. */
function withoutFences(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || trimmed.length < 2 * FENCE.length) return text;
  const inner = trimmed.slice(FENCE.length, -FENCE.length);
  const end = inner.indexOf('\n');
  return /^(?:json)?[ \t\r]*$/i.test(inner.slice(0, Math.max(0, end))) ? inner.slice(end + 1) : text;
}
