import type { JsonSchema } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { PromisedOutput } from '../../gate/index.ts';
import { ensureValidator, readOutput, readPromised } from '../../gate/index.ts';
import type { Activation, Failure } from '../log/index.ts';

/** Why an agent's last words are not what its output schema promises; undefined where they are, or a hook's. */
export async function outputFault(
  agent: PromisedOutput & { readonly name: string },
  activation: Activation,
): Promise<Failure | undefined> {
  const loading = ensureValidator();
  if (loading) await loading;
  const last = activation.own.findLast(({ content }) => content?.role === 'model');
  if (!last || last.actions.hook) return undefined;
  const read = await readPromised(agent, textOfParts(last.content?.parts ?? []), activation);
  if (read.ok) return undefined;
  return {
    reason: 'failed',
    status: 'FAILED_PRECONDITION',
    code: 'E_OUTPUT_SCHEMA',
    message: `the answer of agent ${agent.name} does not fit its output schema: ${read.message}`,
    fatal: true,
    retryable: true,
  };
}

/** What a model's answer promises to be: text without a schema; undefined if it does not fit it. */
export async function promisedValue(agent: PromisedOutput, text: string, owner: object): Promise<unknown> {
  if (!agent.outputSchema) return text;
  const loading = ensureValidator();
  if (loading) await loading;
  const read = await readPromised(agent, text, owner);
  return read.ok ? read.value : undefined;
}

/** Text as the value that it stands for; as text where it is no JSON. */
export function outputValue(schema: JsonSchema | undefined, text: string): unknown {
  const read = schema && readOutput(schema, text);
  return read?.ok ? read.value : text;
}
