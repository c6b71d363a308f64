import type { JsonSchema } from '../contracts/index.ts';
import { textOfParts } from '../contracts/index.ts';
import { ensureValidator, readOutput } from '../gate/index.ts';
import type { Activation } from './activation.ts';
import type { Failure } from './outcome.ts';

/** Why an agent's last words are not what its output schema promises; undefined where they are, or a hook's. */
export async function outputFault(name: string, schema: JsonSchema, { own }: Activation): Promise<Failure | undefined> {
  const loading = ensureValidator();
  if (loading) await loading;
  const last = own.findLast(({ content }) => content?.role === 'model');
  if (!last || last.actions.hook) return undefined;
  const read = readOutput(schema, textOfParts(last.content?.parts ?? []));
  if (read.ok) return undefined;
  return {
    reason: 'failed',
    status: 'FAILED_PRECONDITION',
    code: 'E_OUTPUT_SCHEMA',
    message: `the answer of agent ${name} does not fit its output schema: ${read.message}`,
    fatal: true,
    retryable: true,
  };
}

/** What a model's answer promises to be: text without a schema; undefined if it does not fit it. */
export function promisedValue(schema: JsonSchema | undefined, text: string): unknown {
  if (!schema) return text;
  const read = readOutput(schema, text);
  return read.ok ? read.value : undefined;
}

/** Text as the value that it stands for; as text where it is no JSON. */
export function outputValue(schema: JsonSchema | undefined, text: string): unknown {
  const read = schema && readOutput(schema, text);
  return read?.ok ? read.value : text;
}
