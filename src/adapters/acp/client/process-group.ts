/** A process that is spawned `detached` leads a group of its own; Windows has none. */
export const HAS_GROUPS = process.platform !== 'win32';

const LOOK_MS = 20;

/** Signals whoever is left of a group; false: nobody is. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return HAS_GROUPS && process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** The leader of a group is gone: whoever it has left behind is told to go, and made to after `graceMs`. */
export async function endGroup(leader: number | undefined, graceMs: number): Promise<void> {
  if (leader === undefined || !signalGroup(leader, 'SIGTERM')) return;
  const deadline = Date.now() + graceMs;
  while (Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (!signalGroup(leader, 0)) return;
  }
  signalGroup(leader, 'SIGKILL');
}
