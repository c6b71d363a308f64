import { CoxswainError } from '../../contracts/index.ts';
import type { Agent, Place } from '../agent/index.ts';
import { AgentContext, Operation, runAttributes } from '../agent/index.ts';
import type { Outcome } from '../log/index.ts';
import { SUSPENDED } from '../log/index.ts';
import type { OpenRun } from './open-run.ts';

/**
 * Runs an agent in a slot of the tree, and whoever it hands over to. The code of a first start is the code of a
 * resume: recorded outcomes are returned, everything else finds its position in the log.
 */
export function runSlot(invocation: OpenRun, agent: Agent, place: Place): Promise<Outcome> {
  const recorded = invocation.fold.activations.get(place.path)?.completed;
  if (recorded) {
    if (recorded.agent === agent.name) return Promise.resolve(recorded.outcome);
    return Promise.reject(diverged(place.path, recorded.agent, agent.name));
  }
  if (place.path !== '') invocation.began({ path: place.path, agent: agent.name, thread: place.thread ?? '' });
  return occupied({ invocation, agent, place }, agent, place);
}

interface Slot {
  readonly invocation: OpenRun;
  /** Whose slot it is, whoever is in it. */
  readonly agent: Agent;
  readonly place: Place;
}

/** Somebody is in the slot. No frame waits for whoever that is: thousands may be under way, each several slots deep. */
function occupied(slot: Slot, occupant: Agent, at: Place): Promise<Outcome> {
  if (slot.place.signal.aborted) return Promise.resolve(SUSPENDED);
  return measured(slot.invocation, occupant, at).then((outcome) => left(slot, occupant, outcome));
}

/** They have handed over, or the slot has ended. */
function left(slot: Slot, occupant: Agent, outcome: Outcome): Outcome | Promise<Outcome> {
  if (outcome.kind !== 'done') return outcome;
  const { invocation, agent, place } = slot;
  const { tree } = place;
  const { transfer } = outcome;
  const isRoot = place.path === '' || place.iso[0] === place.path;
  if (transfer && (isRoot || tree.contains(agent, transfer.to))) {
    const target = tree.find(transfer.to);
    if (!target) throw new CoxswainError('NOT_FOUND', 'E_TRANSFER', `there is no agent ${transfer.to} in the tree`);
    // Whoever takes over is named by its own place in the tree, not by that of whoever handed over.
    const above = place.agentPath.slice(0, place.agentPath.length - (tree.pathOf(agent).length - 1));
    const agentPath = [...above, ...tree.pathOf(target).slice(0, -1)];
    return occupied(slot, target, { ...place, path: `${place.path}~${transfer.callId}`, agentPath });
  }
  if (place.path !== '') {
    invocation.completed({ path: place.path, agent: agent.name, outcome, thread: place.thread ?? '' });
    if (occupant.recordsOutcome && !invocation.engine.ignoreCompleted) {
      return invocation.emit(invocation.event(place, { author: occupant.name })).then(() => outcome);
    }
  }
  return outcome;
}

/** Runs an agent inside a span of its own. */
function measured(invocation: OpenRun, agent: Agent, place: Place): Promise<Outcome> {
  const { telemetry } = invocation.engine;
  const operation = Operation.start('agent', `invoke_agent ${agent.name}`, telemetry, place.span, () => ({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent.name,
    ...runAttributes(invocation),
  }));
  if (operation) return inSpan(operation, invocation, agent, place);
  try {
    return Promise.resolve(agent.run(new AgentContext(invocation, agent, place)));
  } catch (error) {
    return Promise.reject(error);
  }
}

async function inSpan(operation: Operation, invocation: OpenRun, agent: Agent, place: Place): Promise<Outcome> {
  try {
    const outcome = await agent.run(new AgentContext(invocation, agent, { ...place, span: operation.span }));
    const fault = outcome.kind === 'failed' ? outcome.failure : undefined;
    operation.end(fault ?? (place.signal.aborted ? place.signal.reason : undefined), {
      'coxswain.outcome': outcome.kind,
    });
    return outcome;
  } catch (error) {
    operation.end(error);
    throw error;
  }
}

function diverged(path: string, logged: string, found: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_REPLAY_DIVERGED',
    `the log has agent ${logged} at ${path || 'the root'}, the program has ${found}; abort the turn or run the old program`,
  );
}
