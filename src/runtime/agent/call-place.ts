import { CoxswainError } from '../../contracts/index.ts';
import type { CallState, Fold } from '../log/index.ts';
import type { Agent, AgentTree } from './agent.ts';
import { isToolUser } from './tool-user.ts';
import type { ResolvedTool } from './tools.ts';
import { validateCall } from './tools.ts';

/** Where a call was made: in which tree, by whom, and the names from the session's root to the caller. */
export interface CallPlace {
  tree: AgentTree;
  agent: Agent | undefined;
  path: readonly string[];
}

/** Another agent's turns are its own, though the session is the same: of one name, their tools are others. */
export function isOwnCall(tree: AgentTree, fold: Fold, { turnId }: Pick<CallState, 'turnId'>): boolean {
  return (fold.rootOf(turnId) ?? tree.root.name) === tree.root.name;
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_REPLAY_DIVERGED` for a turn that was begun with another agent */
export function assertTurnOfAgent(tree: AgentTree, fold: Fold, turnId: string): void {
  if (isOwnCall(tree, fold, { turnId })) return;
  const root = JSON.stringify(fold.rootOf(turnId));
  const { name } = tree.root;
  const message = `agent ${root} has begun this turn, and ${JSON.stringify(name)} does not continue it: open the session with ${root}, or send a message, which begins a turn`;
  throw new CoxswainError('FAILED_PRECONDITION', 'E_REPLAY_DIVERGED', message, { details: { agent: name } });
}

/** The same of what is asked about a call. */
export function assertCallOfAgent(tree: AgentTree, fold: Fold, requestId: string): void {
  const call = fold.callOf(requestId);
  if (call) assertTurnOfAgent(tree, fold, call.turnId);
}

/** Follows agents that are run as tools up to the root, each through the call that runs it. */
export function placeOfCall(root: AgentTree, fold: Fold, call: CallState): CallPlace {
  if (!isOwnCall(root, fold, call)) {
    const names = [fold.rootOf(call.turnId) ?? '', call.author];
    return { tree: root, agent: undefined, path: names[0] === names[1] ? [call.author] : names };
  }
  if (call.iso === undefined) return within(root, [], call.author);
  // An agent run as a tool stands at its caller's path and the call's id.
  const outer = fold.calls.get(call.iso.slice(call.iso.lastIndexOf('/') + 1));
  if (!outer) return { tree: root, agent: undefined, path: [root.root.name, call.author] };
  const above = placeOfCall(root, fold, outer);
  const tree = toolOf(above, outer.name)?.agentTree;
  return tree
    ? within(tree, above.path, call.author)
    : { tree: root, agent: undefined, path: [...above.path, call.author] };
}

/** The tool that a caller calls so; undefined for those of toolsets. */
export function toolOf({ agent }: CallPlace, name: string): ResolvedTool | undefined {
  return agent && isToolUser(agent) ? agent.tools.get(name) : undefined;
}

/**
 * Arguments that a person edited as the tool takes them: they are what is stored, judged and run. Those of a tool that is
 * not known before its step are looked at when it runs. All edits of a turn have one allowance.
 * @throws CoxswainError `INVALID_ARGUMENT / E_WRONG_ANSWER`
 */
export async function checkEdited(
  root: AgentTree,
  fold: Fold,
  call: CallState,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const tool = toolOf(placeOfCall(root, fold, call), call.name);
  const checked = tool && (await validateCall(tool, args, fold.turn));
  if (!checked) return args;
  if (checked.ok) return checked.args;
  const message = `the edited arguments do not fit: ${checked.message}`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_WRONG_ANSWER', message);
}

function within(tree: AgentTree, above: readonly string[], name: string): CallPlace {
  const agent = tree.find(name);
  return { tree, agent, path: [...above, ...(agent ? tree.pathOf(agent) : [name])] };
}
