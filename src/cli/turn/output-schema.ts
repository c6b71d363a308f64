import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { compileSchema, ensureValidator } from '../../gate/index.ts';
import { usageError } from '../terminal/index.ts';
import type { StreamOutcome } from './drive.ts';

/** Says why an answer does not fit; undefined if it does. */
export type OutputCheck = (outcome: StreamOutcome) => CoxswainError | undefined;

/**
 * A check of final answers by the JSON Schema of a file.
 * @throws CoxswainError `E_USAGE | E_SCHEMA` for a file that is none
 */
export async function outputCheck(file: string): Promise<OutputCheck> {
  const schema = readSchema(file);
  await ensureValidator();
  const matches = compileSchema(schema);
  const misfit = (reason: string) =>
    new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', `the answer does not fit ${file}: ${reason}`);
  return ({ text, output }) => {
    let value = output;
    if (value === undefined) {
      try {
        value = JSON.parse(text.trim());
      } catch (error) {
        return misfit(`it is not JSON (${messageOf(error)})`);
      }
    }
    if (matches(value)) return undefined;
    const faults = matches.errors.map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`);
    return misfit([...new Set(faults)].slice(0, 5).join('; '));
  };
}

function readSchema(file: string): JsonSchema {
  let schema: unknown;
  try {
    schema = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw usageError(`--output-schema: ${file} cannot be read as JSON (${messageOf(error)})`, error);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw usageError(`--output-schema: ${file} is not a JSON Schema; it must be an object`);
  }
  return schema as JsonSchema;
}
