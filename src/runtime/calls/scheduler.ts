import { eachInPieces, unreachable } from '../../base/index.ts';
import { ensureValidator } from '../../gate/index.ts';
import type { AgentContext, ToolMap } from '../agent/index.ts';
import { boundedAnswer, withBounded } from '../agent/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { readOn } from '../live/index.ts';
import type { Ask, CallState, EventActions, StoredEvent } from '../log/index.ts';
import { responseEvent } from '../log/index.ts';
import { runAll } from './call-runner.ts';
import { CallStarts } from './call-starts.ts';
import { stepOf } from './call-step.ts';
import { closeWithin } from './close-slot.ts';
import type { ReadyCall } from './ready-call.ts';

/**
 * The one way in which the runtime brings calls to their results. Each unanswered call is looked at on the grounds of
 * the log alone, so that a first pass, an answer later and a restart are the same code.
 *
 * Calls run side by side, each failure by itself; each is stored as it settles, so that neither a crash nor a long
 * wait for somebody's yes loses a finished sibling.
 */
export async function settleCalls(
  context: AgentContext,
  batch: readonly CallState[],
  tools: ToolMap,
  hooks: HookChain,
): Promise<'complete' | 'suspended'> {
  const { invocation } = context;
  const loading = ensureValidator();
  if (loading) await loading;
  let outruns = 0;
  for (;;) {
    const seen = invocation.fold.answers;
    const ready: ReadyCall[] = [];
    const asks: Ask[] = [];
    const settled: StoredEvent[] = [];
    const unsettled = batch.filter((call) => !call.settled && !call.interim);
    const open = inOrder(unsettled, tools);
    const looking = eachInPieces(open, (call) => stepOf(context, call, tools, hooks));
    const steps = looking instanceof Promise ? await looking : looking;
    for (const [index, step] of steps.entries()) {
      const call = open[index] as CallState;
      switch (step.kind) {
        case 'run':
          ready.push(step.ready);
          break;
        case 'ask':
          asks.push(step.ask);
          break;
        case 'settle': {
          // Its agent has begun: what that waits for is nobody's any more.
          if (call.entered)
            settled.push(...closeWithin(invocation.fold, call, `${call.name} was ended`, invocation.origin()));
          const bounding = boundedAnswer(invocation, call.id, step.result);
          const bounded = bounding instanceof Promise ? await bounding : bounding;
          const told = step.actions ? { actions: step.actions } : {};
          settled.push(withBounded(responseEvent(call, bounded.result, invocation.origin(), told), bounded));
          break;
        }
        case 'wait':
          break;
        default:
          unreachable(step, 'the step of a call');
      }
    }
    const starts = new CallStarts(context);
    const events = [...announce(context, starts.first(ready), asks), ...settled];
    if (events.length > 0) {
      const { at } = invocation.fold;
      try {
        await invocation.emit(...events);
      } catch (error) {
        // Somebody else has settled one of the calls in the same moment: they are looked at again.
        await readOn(invocation.session, { error, at, tries: ++outruns });
        continue;
      }
    }
    if (context.signal.aborted) return 'suspended';
    if (ready.length > 0) await runAll(context, ready, hooks, starts);
    if (batch.every((call) => call.settled || call.interim)) return 'complete';
    // Those that waited for these may move now.
    if (open.length < unsettled.length && open.some((call) => call.settled || call.interim)) continue;
    const storing = invocation.stored();
    if (storing) await storing;
    // Answered while others ran: go on; else nothing moves here any more.
    if (context.signal.aborted || invocation.fold.answers === seen) return 'suspended';
  }
}

/** Less the calls whose tools come after others of the batch; where all wait for one another, nobody does. */
function inOrder(open: readonly CallState[], tools: ToolMap): readonly CallState[] {
  const names = new Set(open.map(({ name }) => name));
  const free = open.filter((call) => {
    const after: unknown = tools.get(call.name)?.descriptor.annotations?.after;
    return !Array.isArray(after) || !after.some((name) => name !== call.name && names.has(name));
  });
  return free.length > 0 ? free : open;
}

/** What must be in the log before anything runs or anybody is asked. */
function announce(context: AgentContext, starts: Partial<EventActions>, asks: readonly Ask[]): StoredEvent[] {
  if (!starts.started && asks.length === 0) return [];
  return [context.event({ actions: asks.length > 0 ? { ...starts, asks: [...asks] } : starts })];
}
