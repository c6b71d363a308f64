import type { ExecutionOptions, Principal, ReportedRequest, SessionInput } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { CallersStream, Handle } from '../frame/index.ts';
import { subagentPrompt } from './subagent-calls.ts';
import type { SubagentEvents } from './subagent-events.ts';
import type { SubagentTurn } from './subagent-turn.ts';

/** One call of a sub-agent, in its caller's stream. */
export interface SubagentCall {
  request: ReportedRequest;
  args: Record<string, unknown>;
  stream: CallersStream;
  signal: AbortSignal;
}

/**
 * Runs a sub-agent's turn, or goes on with it, to its end or until somebody must answer; shows what it does.
 * @param principal on whose behalf the caller's turn runs
 */
export async function streamSubagent(
  child: Handle,
  turn: SubagentTurn,
  { request, args, stream, signal }: SubagentCall,
  principal: Principal,
  events: SubagentEvents,
): Promise<void> {
  const input: SessionInput = turn.isOpen ? { kind: 'continue' } : { kind: 'message', content: subagentPrompt(args) };
  const { streaming, deps, excludeTools, traceContext } = stream.options;
  const own: ExecutionOptions = {
    signal,
    principal,
    ...(excludeTools === undefined ? {} : { excludeTools }),
    ...(streaming === undefined ? {} : { streaming }),
    ...(deps === undefined ? {} : { deps }),
    limits: stream.limits(turn.usage),
    ...(traceContext === undefined ? {} : { traceContext }),
  };
  try {
    for await (const event of child.stream(input, own)) {
      turn.see(event);
      const room = events.show(event, request, stream);
      if (room) await room;
    }
  } catch (error) {
    // Another process goes on with it.
    if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY') throw error;
  }
}
