import type { SessionInput } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { AskState, CallState, Fold } from '../../runtime/index.ts';
import { orAbort } from '../../runtime/index.ts';
import type { ExecuteOptions } from './options.ts';

/** An answer to everything that a run waits for. Nobody to ask, a throw, anything but true: no. */
export async function answersTo(fold: Fold, options: ExecuteOptions, signal: AbortSignal): Promise<SessionInput[]> {
  const answers: SessionInput[] = [];
  for (const call of fold.open.values()) {
    const ask = call.asks.at(-1);
    if (!ask || ask.answer) continue;
    const yes = ask.kind === 'tool_confirmation' && (await isApproved(call, ask, options, signal));
    answers.push({
      kind: 'elicitation_response',
      requestId: ask.requestId,
      response: { action: yes ? 'accept' : 'decline' },
      by: { id: yes ? 'caller' : 'nobody' },
    });
  }
  return answers;
}

async function isApproved(
  call: CallState,
  ask: AskState,
  { onApproval, warn = console.warn }: ExecuteOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (!onApproval || signal.aborted) return false;
  const request = { callId: call.id, name: call.name, args: ask.args ?? call.args, message: ask.message };
  try {
    const answer = (async () => onApproval(structuredClone(request), { signal }))();
    return (await orAbort(signal, answer)) === true;
  } catch (error) {
    if (!signal.aborted) warn(`onApproval failed on ${call.name}, which denies the call: ${messageOf(error)}`, error);
    return false;
  }
}
