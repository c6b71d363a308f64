import type { Compaction } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Engine, RunSink } from '../agent/index.ts';
import type { CurrentRun, LiveSession } from '../live/index.ts';
import { Invocation } from '../run/index.ts';
import type { ModelUser } from '../step/index.ts';
import { compactNow, isConversational, startingAgent } from '../step/index.ts';

/** Nobody reads along: whoever follows the log sees what is stored. */
const nowhere: RunSink = {
  accepted() {},
  event() {},
  delta() {},
  toolUpdate() {},
  room: () => undefined,
  letIn() {},
  release() {},
};

/** A compaction that is under way, in the place of a run. */
export interface CompactionRun extends CurrentRun {
  readonly result: Promise<Compaction>;
}

/**
 * Sums up the history of the agent that takes the next message, as far as it may be; nothing else of the session changes.
 * Until it is over no run can start.
 */
export function startCompaction(live: LiveSession, engine: Engine): CompactionRun {
  const invocation = new Invocation(live, engine, { streaming: false }, nowhere);
  const result = live.readOn().then(async (): Promise<Compaction> => {
    const agent = startingAgent(engine.tree, live.fold);
    if (!isConversational(agent)) {
      const message = `agent ${agent.name} has no history of its own: its agents compact theirs by themselves`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message);
    }
    const user = agent as unknown as ModelUser;
    return invocation.beside(agent, (context) => compactNow(context, user, user.hooks(context), new Map(), 'asked'));
  });
  const current = { invocation, result };
  live.current = current;
  return current;
}
