import type { SessionInput } from '../../contracts/index.ts';
import { thrownOutcome } from '../agent/index.ts';
import { failClosed, hookContent, withGrace } from '../hooks/index.ts';
import type { Outcome } from '../log/index.ts';
import { DONE } from '../log/index.ts';
import type { OpenRun } from './open-run.ts';

/** A plugin's answer to a message, if one has any. */
export function beforeRun(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
): Promise<Outcome | undefined> | undefined {
  if (invocation.engine.plugins.length === 0 || !inputs.some((input) => input.kind === 'message')) return undefined;
  return askPlugins(invocation);
}

async function askPlugins(invocation: OpenRun): Promise<Outcome | undefined> {
  try {
    for (const plugin of invocation.engine.plugins) {
      const point = `${plugin.name}.beforeRun`;
      const content = await failClosed(point, invocation.signal, () => plugin.beforeRun?.(invocation));
      if (!content) continue;
      const author = invocation.fold.turn?.start ?? invocation.tree.root.name;
      await invocation.emit(invocation.rootEvent({ author, content: hookContent(content, 'model', point) }));
      return DONE;
    }
    return undefined;
  } catch (error) {
    return thrownOutcome(invocation.signal, error);
  }
}

/** Tells the plugins that the run is over; what they make of it changes nothing. */
export async function afterRun(invocation: OpenRun): Promise<void> {
  for (const plugin of invocation.engine.plugins) {
    try {
      if (plugin.afterRun) await withGrace(invocation.signal, Promise.resolve(plugin.afterRun(invocation)));
    } catch (error) {
      invocation.engine.warn(`${plugin.name}.afterRun failed`, error);
    }
  }
}
