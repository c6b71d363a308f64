import type { Tool } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../../../../contracts/index.ts';
import { messageOf } from '../../../../contracts/index.ts';
import { compileSchema, toJsonSchema } from '../../../../gate/index.ts';
import { checkNoPromise } from '../../../../session/index.ts';
import type { McpToolsetOptions } from '../wire/index.ts';

/** Characters of a name, and of all that is said of a tool: a person reads it before saying yes, and a model each time. */
const MAX_NAME = 128;
const MAX_SAID = 100_000;

/** Control, format and private characters, and what has no meaning: they hide what a name is. */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Why a tool is not to be offered; undefined: it is. */
export function faultOfTool({ name, execution, ...said }: Tool): string | undefined {
  if (name === '' || name.length > MAX_NAME)
    return `its name has ${name.length} characters; 1 to ${MAX_NAME} are taken`;
  if (unseen.test(name) || name.trim() !== name) return 'its name has characters that cannot be seen';
  if (name === '__proto__') return 'its name is one that every object has';
  const { length } = JSON.stringify(said);
  if (length > MAX_SAID) return `what is said of it takes ${length} characters; ${MAX_SAID} are taken`;
  if (execution?.taskSupport === 'required') return 'it can only be called as a task, which is not spoken here';
  return undefined;
}

/** Whether `include` takes a tool. A promise would count as true, so it takes none: the list of tools does not wait for it. */
export function isIncluded(name: string, include: McpToolsetOptions['include'], warn: (text: string) => void): boolean {
  if (!include) return true;
  const taken: unknown = include(name);
  try {
    checkNoPromise(taken, 'include', (error) => warn(`include rejected for its tool ${name}: ${messageOf(error)}`));
    return Boolean(taken);
  } catch (error) {
    warn(`its tool ${name} is left out: ${messageOf(error)}`);
    return false;
  }
}

/**
 * A tool with schemas that arguments can be held to.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for one that could never be called
 */
export function callable(tool: Tool, warn: (text: string) => void): Tool {
  compileSchema(toJsonSchema(tool.inputSchema as JsonSchema));
  const { outputSchema, ...rest } = tool;
  try {
    if (outputSchema) compileSchema(toJsonSchema(outputSchema as JsonSchema, { anyRoot: true }));
    return tool;
  } catch (error) {
    // What comes of it is shown all the same.
    warn(`the output schema of its tool ${tool.name} is left out: ${messageOf(error)}`);
    return rest;
  }
}
