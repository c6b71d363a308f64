import type {
  AgentEvent,
  CoxswainError,
  ExecutorStreamOptions,
  ReportedRequest,
  ToolDescriptor,
} from '../../contracts/index.ts';
import { copyJson } from '../../contracts/index.ts';
import { isoTime } from '../../session/index.ts';

/** Options as they cross the wire: what holds code, signals or secrets stays here. */
export function wireOptions(options: ExecutorStreamOptions): object {
  const { signal: _, deps: __, streamId: ___, tools, ...rest } = options;
  const described = tools?.map(describe);
  return copyJson({ ...rest, ...(described ? { tools: described } : {}) }, 'options');
}

/** How a stream ends whose own end will not come. */
export function lostStreamEnd(
  sessionId: string,
  streamId: string,
  error: CoxswainError,
  pending: ReportedRequest[] = [],
): AgentEvent[] {
  const base = () => ({ id: crypto.randomUUID(), timestamp: isoTime(), sessionId, streamId });
  // Nothing runs and something is open: that is a pause, not a failure.
  if (pending.length > 0) return [{ ...base(), type: 'stream_end', reason: 'input_required', data: { pending } }];
  const { status, code, message, retryable } = error;
  return [
    { ...base(), type: 'error', status, code, message, fatal: true, retryable },
    { ...base(), type: 'stream_end', reason: 'failed', data: { pending } },
  ];
}

/** Without its handler: whoever offers it runs it. */
function describe(tool: ToolDescriptor): ToolDescriptor {
  const { name, displayName, description, inputSchema, outputSchema, kind, annotations } = tool;
  return {
    name,
    description,
    inputSchema,
    ...(displayName === undefined ? {} : { displayName }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(kind === undefined ? {} : { kind }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
