import type { ReportedRequest, SessionInput } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { hasAnswer } from '../../gate/index.ts';
import { answeredNow, isPipeable, keepsAnswers } from '../../session/index.ts';
import type { Hosted } from '../frame/index.ts';

/**
 * Ids of the calls of a turn that waits which somebody has answered, beside a message or before it, and which are open
 * still: the message joins their turn. Undefined: there is no need to look.
 */
export function hostedCallsToJoin(session: Hosted, inputs: readonly SessionInput[]): Promise<string[]> | undefined {
  if (!inputs.some(({ kind }) => kind === 'message')) return undefined;
  const { inner } = session;
  // Whoever keeps no log here is asked only where the input itself has answers.
  if (inputs.length === 1 && !(isPipeable(inner) && inner.hasOpen)) return undefined;
  return answeredCalls(session, inputs);
}

/** Ids of the calls that are open still and that somebody has answered, or answers with these inputs. */
export async function answeredCalls(session: Hosted, inputs: readonly SessionInput[]): Promise<string[]> {
  const ids = new Set<string>();
  for (const input of inputs) {
    if (input.kind === 'elicitation_response' || input.kind === 'tool_approval') ids.add(input.requestId);
  }
  const { inner } = session;
  const calls: string[] = [];
  for (const request of await inner.pending()) {
    const { callId, detached } = request;
    if (callId === undefined || detached) continue;
    const isTheirs =
      (await isAmong(session, request, ids)) ||
      (await isAnswered(session, request)) ||
      (await isAnsweredWithin(session, request));
    if (isTheirs) calls.push(callId);
  }
  // Of those that the agent runs itself nothing is open once they are answered.
  return keepsAnswers(inner) ? [...calls, ...inner[answeredNow]()] : calls;
}

/** The same is so of a call within the sub-agent that it has called. */
async function isAnsweredWithin(session: Hosted, request: ReportedRequest): Promise<boolean> {
  const child = await session.subagents?.of(request)?.session();
  return child !== undefined && (await child.answeredCalls()).length > 0;
}

/** One of these questions is about the call, or is asked within it. */
async function isAmong(session: Hosted, request: ReportedRequest, ids: ReadonlySet<string>): Promise<boolean> {
  for (const id of ids) if (id === request.requestId || callIdOf(id) === request.callId) return true;
  if (ids.size === 0) return false;
  const below = await session.subagents?.of(request)?.open();
  return below?.some(({ requestId }) => ids.has(requestId)) ?? false;
}

/** A person has said what becomes of it, and that holds. */
async function isAnswered(session: Hosted, request: ReportedRequest): Promise<boolean> {
  if (!hasAnswer(request)) return false;
  const { kind } = await session.judge.step(request, session.frame.toolOf(request), undefined, true);
  return kind === 'run' || kind === 'settle';
}
