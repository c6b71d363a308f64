import type { AnyAgentTool, ContentPart, ToolResult } from '../../contracts/index.ts';
import { copyJson, messageOf } from '../../contracts/index.ts';
import { normaliseReturn, structuredReturn } from '../result/index.ts';
import { valueFault } from '../schema/index.ts';

/** A handler returned what its tool's output schema does not promise. */
export interface UnfitReturn {
  readonly fault: string;
  /** An error that keeps all that was returned. */
  readonly result: ToolResult;
}

/**
 * Holds what a handler returned to its tool's `outputSchema`: undefined where it fits, or nothing is promised. A whole
 * result is held to it where it has structured content, and not at all where it says that it has failed. Defaults and
 * transforms change nothing: the result is what was returned. Never throws or rejects.
 */
export function unfitReturn(
  { outputSchema }: Pick<AnyAgentTool, 'outputSchema'>,
  value: unknown,
): UnfitReturn | undefined | Promise<UnfitReturn | undefined> {
  if (outputSchema === undefined) return undefined;
  const unfit = (fault: string | undefined) =>
    fault === undefined ? undefined : { fault, result: kept(value, fault) };
  try {
    const given = structuredReturn(value);
    if (!given) return undefined;
    const fault = valueFault(outputSchema, copyJson(given.value ?? null, 'the result'));
    return fault instanceof Promise ? fault.then(unfit) : unfit(fault);
  } catch (error) {
    return unfit(messageOf(error));
  }
}

const textPart = (text: string): ContentPart => ({ type: 'text', text });

/** What a program is told of it: the mistake is its own. */
export function misfit(name: string, fault: string): string {
  return `tool ${name}: its result does not fit its output schema: ${fault}`;
}

/** The call has happened: all that it gave is there, but it does not pass for what was promised. */
function kept(value: unknown, fault: string): ToolResult {
  const { structuredContent, content, ...rest } = normaliseReturn(value);
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  const isSaid = json === undefined || content.some((part) => part.type === 'text' && part.text === json);
  const why = textPart(`The call has run, but what it gave does not fit the output schema of its tool: ${fault}`);
  return {
    ...rest,
    content: [why, ...content, ...(isSaid ? [] : [textPart(json)])],
    isError: true,
    errorType: 'invalid_output',
  };
}
