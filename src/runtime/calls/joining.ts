import type { SessionInput } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import { joined } from '../../session/index.ts';
import type { InvocationOptions, Run } from '../agent/index.ts';
import { isOwnCall } from '../agent/index.ts';
import type { CallState } from '../log/index.ts';
import { isWithin, slotOfCall } from '../log/index.ts';
import { isUnheard } from './detached-calls.ts';

/**
 * The calls of a turn that waits which somebody has answered and which are open still: a message beside such an answer,
 * or after it, does not take the answer back. None: the message begins a turn.
 * @throws CoxswainError `FAILED_PRECONDITION / E_TURN_COMPLETED` where a host has named some, and their turn is over
 */
export function callsToJoin(
  {
    fold,
    options,
    hostRuns,
    tree,
  }: Pick<Run, 'fold' | 'hostRuns' | 'tree'> & { options: InvocationOptions & Pick<JoiningOptions, typeof joined> },
  inputs: readonly SessionInput[],
): ReadonlySet<CallState> {
  const { turn } = fold;
  const ids = new Set(options[joined]);
  const kept = new Set<CallState>();
  if (!turn || turn.ended !== undefined) {
    if (ids.size === 0) return kept;
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_TURN_COMPLETED',
      'the turn that the words were for is complete; send a message',
    );
  }
  for (const input of inputs) {
    if (input.kind !== 'elicitation_response' && input.kind !== 'tool_approval') continue;
    const call = fold.callOf(input.requestId);
    if (call) ids.add(call.id);
  }
  // Another agent's words begin a turn of their own.
  if (!isOwnCall(tree, fold, { turnId: turn.id })) return kept;
  // A host says by itself what it has seen answered before: it has to hold the message to the turn's terms.
  for (const call of fold.open.values()) {
    if (call.turnId === turn.id && (ids.has(call.id) || (!hostRuns && isUnheard(call)))) kept.add(call);
  }
  // And those that run the agents which have made them.
  const places = [...kept].map(({ path }) => path);
  for (const call of fold.open.values()) {
    if (places.some((path) => isWithin(slotOfCall(call), path))) kept.add(call);
  }
  return kept;
}
