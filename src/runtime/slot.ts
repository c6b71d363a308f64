import { CoxswainError } from '../contracts/index.ts';
import type { Agent } from './agent.ts';
import type { Place } from './context.ts';
import { AgentContext } from './context.ts';
import type { Invocation } from './invocation.ts';
import type { Outcome } from './outcome.ts';
import { SUSPENDED } from './outcome.ts';
import { Operation, runAttributes } from './telemetry.ts';

/**
 * Runs an agent in a slot of the tree, and whoever it hands over to. The code of a first start is the code of a
 * resume: recorded outcomes are returned, everything else finds its position in the log.
 */
export async function runSlot(invocation: Invocation, agent: Agent, place: Place): Promise<Outcome> {
  const { fold } = invocation;
  const { tree } = place;
  const isRoot = place.path === '' || place.iso[0] === place.path;
  const recorded = fold.activations.get(place.path)?.completed;
  if (recorded) {
    if (recorded.agent !== agent.name) throw diverged(place.path, recorded.agent, agent.name);
    return recorded.outcome;
  }
  if (place.path !== '') invocation.began({ path: place.path, agent: agent.name, thread: place.thread ?? '' });
  let occupant = agent;
  let path = place.path;
  let { agentPath } = place;
  for (;;) {
    if (place.signal.aborted) return SUSPENDED;
    const outcome = await measured(invocation, occupant, { ...place, path, agentPath });
    if (outcome.kind !== 'done') return outcome;
    const { transfer } = outcome;
    if (transfer && (isRoot || tree.contains(agent, transfer.to))) {
      const target = tree.find(transfer.to);
      if (!target) throw new CoxswainError('NOT_FOUND', 'E_TRANSFER', `there is no agent ${transfer.to} in the tree`);
      occupant = target;
      path = `${place.path}~${transfer.callId}`;
      // Whoever takes over is named by its own place in the tree, not by that of whoever handed over.
      const above = place.agentPath.slice(0, place.agentPath.length - (tree.pathOf(agent).length - 1));
      agentPath = [...above, ...tree.pathOf(target).slice(0, -1)];
      continue;
    }
    if (place.path !== '') {
      invocation.completed({ path: place.path, agent: agent.name, outcome, thread: place.thread ?? '' });
      if (occupant.recordsOutcome && !invocation.engine.ignoreCompleted)
        await invocation.emit(invocation.event(place, { author: occupant.name }));
    }
    return outcome;
  }
}

/** Runs an agent inside a span of its own. */
async function measured(invocation: Invocation, agent: Agent, place: Place): Promise<Outcome> {
  const { telemetry } = invocation.engine;
  const operation = Operation.start('agent', `invoke_agent ${agent.name}`, telemetry, place.span, () => ({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent.name,
    ...runAttributes(invocation),
  }));
  if (!operation) return agent.run(new AgentContext(invocation, agent, place));
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
