import type { FunctionResponsePart, ToolResult } from '../../contracts/index.ts';
import { fromResponse } from '../../gate/index.ts';
import type { StoredEvent } from '../../runtime/index.ts';

/** The stored response to a call. */
export function responseTo(log: readonly StoredEvent[], callId: string): FunctionResponsePart | undefined {
  for (let at = log.length - 1; at >= 0; at--) {
    for (const part of log[at]?.content?.parts ?? []) {
      if (part.type === 'function_response' && part.id === callId) return part;
    }
  }
  return undefined;
}

/** What the handler returned, as the log has it; a refusal or error is a ToolResult. */
export function valueOfResponse(part: FunctionResponsePart): unknown {
  const result = fromResponse(part);
  if (result.isError) return result;
  if (result.structuredContent !== undefined) return result.structuredContent;
  const [first, ...more] = result.content;
  if (first === undefined) return '';
  if (more.length > 0) return result;
  if (first.type === 'text') return first.text;
  if (first.type === 'media' && first.data !== undefined) return Uint8Array.from(Buffer.from(first.data, 'base64'));
  return result;
}

/** A tool that was refused, failed or cancelled: `tool.executor` in an agent gives this instead of throwing. */
export function isErrorResult(value: unknown): value is ToolResult & { isError: true } {
  const result = value as Partial<ToolResult> | null | undefined;
  return typeof result === 'object' && result?.isError === true && Array.isArray(result.content);
}
