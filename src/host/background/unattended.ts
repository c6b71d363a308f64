import type { AgentSource, HostContext } from '../../contracts/index.ts';
import type { Unattended } from './work.ts';

/** Turns of these agents that nobody runs, as their stores tell; of stores that cannot, those of former processes. */
export async function unattendedOf(
  sources: ReadonlyMap<string, AgentSource>,
  context: HostContext,
  { changedSince, silentMs }: { changedSince?: number; silentMs?: number },
): Promise<Unattended[]> {
  const found: Unattended[] = [];
  for (const [agent, source] of sources) {
    const provider = source.sessions?.(context);
    if (provider?.unattended) {
      const options = {
        ...(silentMs === undefined ? {} : { silentMs }),
        ...(changedSince === undefined ? {} : { changedSince }),
      };
      for (const turn of await provider.unattended(options)) found.push({ agent, ...turn });
    } else if (changedSince === 0) {
      // Nobody tells who is gone: what a former process has left is looked for at the start.
      for (const { running, ...turn } of (await provider?.openTurns?.()) ?? []) {
        if (!running) found.push({ agent, ...turn, lastSeq: 0, wasTaken: false });
      }
    }
  }
  return found;
}
