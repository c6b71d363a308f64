import { unreachable } from '../../base/index.ts';
import type { InvocationResult } from '../agent/index.ts';
import { errorFields, failureOf, limitReason } from '../agent/index.ts';
import { editEvent, withGrace } from '../hooks/index.ts';
import { readOn } from '../live/index.ts';
import type { Outcome, StoredEvent } from '../log/index.ts';
import type { OpenRun } from './open-run.ts';
import { afterRun } from './run-hooks.ts';

/** Hooks around the end have their own time. */
const never = new AbortController().signal;

/** Settles what is open, ends the turn, tells the plugins. */
export async function endRun(invocation: OpenRun, outcome: Outcome): Promise<InvocationResult> {
  invocation.closing = true;
  // It may be in the log, whatever the store says.
  if (invocation.endId !== undefined && !invocation.end) await invocation.session.catchUp();
  const { end: stored } = invocation;
  let result: InvocationResult;
  if (stored) result = { reason: 'completed', end: stored };
  else if (invocation.signal.aborted)
    result = await end(invocation, { reason: limitReason(invocation.signal.reason) ?? 'aborted' }, outcome);
  else {
    const ending = endAs(invocation, outcome);
    result = ending instanceof Promise ? await ending : ending;
  }
  // Under a host a stream is made of several of these: the run is over with its turn.
  if (invocation.hostRuns && result.reason === 'input_required') return result;
  if (invocation.engine.plugins.length > 0) await afterRun(invocation);
  return result;
}

function endAs(invocation: OpenRun, outcome: Outcome): InvocationResult | Promise<InvocationResult> {
  switch (outcome.kind) {
    case 'failed':
      return end(invocation, { reason: outcome.failure.reason, failure: outcome.failure }, outcome);
    case 'suspended':
      return { reason: 'input_required' };
    case 'done':
      return end(invocation, { reason: 'completed', ...(outcome.escalate ? { escalate: true } : {}) }, outcome);
    default:
      return unreachable(outcome, 'what a run has come to');
  }
}

async function end(invocation: OpenRun, result: InvocationResult, outcome: Outcome): Promise<InvocationResult> {
  for (let tries = 1; ; tries++) {
    const { at } = invocation.fold;
    try {
      return await writeEnd(invocation, result, outcome);
    } catch (error) {
      // Somebody else has answered one of the open calls in between.
      await readOn(invocation.session, { error, at, tries });
    }
  }
}

async function writeEnd(invocation: OpenRun, result: InvocationResult, outcome: Outcome): Promise<InvocationResult> {
  const open = invocation.fold.open.values();
  const abandonedCalls =
    outcome.kind === 'done' && !invocation.signal.aborted
      ? []
      : [...open].filter((call) => invocation.signal.aborted || !call.longRunning);
  const events = invocation.settle(
    abandonedCalls,
    result.reason === 'aborted' ? 'aborted' : `the turn ended: ${result.reason}`,
  );
  const author = invocation.fold.occupant ?? invocation.tree.root.name;
  const failure =
    result.failure ??
    (invocation.signal.aborted && result.reason !== 'aborted' ? failureOf(invocation.signal.reason) : undefined);
  if (failure && failure.code !== '') events.push(invocation.rootEvent({ author, ...errorFields(failure) }));
  const data = {
    ...(result.escalate ? { escalateReason: 'escalate' } : {}),
    ...(failure ? { reason: failure.message } : {}),
  };
  const end = { reason: result.reason, ...(Object.keys(data).length > 0 ? { data } : {}) };
  events.push(invocation.rootEvent({ author, actions: { end } }));
  const edited = invocation.eventHooks.length > 0;
  const shown = edited ? await Promise.all(events.map((event) => editSafely(invocation, event))) : events;
  await invocation.commit(shown);
  const last = shown.at(-1);
  const stored = invocation.session.log.findLast(({ id }) => id === last?.id);
  return { ...result, ...(failure ? { failure } : {}), ...(stored ? { end: stored } : {}) };
}

/** What a turn ends with is written, whatever hooks do. */
export async function editSafely(invocation: OpenRun, event: StoredEvent): Promise<StoredEvent> {
  try {
    return await withGrace(invocation.signal, editEvent(invocation, invocation.eventHooks, event, never));
  } catch (error) {
    invocation.engine.warn('an on_event hook failed', error);
    return event;
  }
}
