import type { SessionInput } from '../../contracts/index.ts';
import { joined } from '../../session/index.ts';
import { outrun, readOn } from '../live/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { GivenCredential } from '../services/index.ts';
import { keepCredentials } from '../services/index.ts';
import type { Lease } from '../store/index.ts';
import type { HeardInputs } from './accept-inputs.ts';
import { acceptInputs } from './accept-inputs.ts';
import type { OpenRun } from './open-run.ts';

interface StoredInputs {
  at: number;
  stored: readonly StoredEvent[];
}

interface LeaseTaken {
  lease: Lease;
  stored: StoredInputs | undefined;
}

/**
 * Takes the lease of a run together with the message that begins its turn, in one transaction. Undefined: there is more
 * to look at than what this process knows of the log, or the store cannot. Without `stored` the lease is taken, and the
 * message is to be stored.
 */
export function leaseWithMessage(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
): Promise<LeaseTaken | undefined> | undefined {
  const { session, engine, options } = invocation;
  const [only] = inputs;
  const isLone = inputs.length === 1 && only?.kind === 'message' && options[joined] === undefined;
  if (!isLone || !session.takesLeaseWithEvents) return undefined;
  // A hook hears what a person says once the session is theirs.
  if (engine.plugins.some(({ onUserMessage }) => onUserMessage)) return undefined;
  return leaseWith(invocation, inputs);
}

async function leaseWith(invocation: OpenRun, inputs: readonly SessionInput[]): Promise<LeaseTaken | undefined> {
  const { session, fold } = invocation;
  const { at } = fold;
  const events = await acceptInputs(invocation, inputs, [], { results: new Map() });
  if (!session.takesLeaseWithEvents || fold.at !== at) return undefined;
  const lease = await session.leaseWith(events, at);
  return { lease, stored: lease.stored && { at, stored: lease.stored } };
}

/**
 * Stores a run's inputs, or refuses them all. They are stored only where nobody has written since they were looked at:
 * what they answer, or would close, may have been settled meanwhile. `at` is where the log stood before; `stored` is
 * not taken in yet.
 */
export async function storeInputs(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
  epoch: number,
): Promise<StoredInputs> {
  const { session, fold } = invocation;
  const heard: HeardInputs = { results: new Map() };
  for (let tries = 1; ; tries++) {
    const { at } = fold;
    const credentials: GivenCredential[] = [];
    const accepted = acceptInputs(invocation, inputs, credentials, heard);
    const events = accepted instanceof Promise ? await accepted : accepted;
    if (events.length === 0) return { at: fold.at, stored: events };
    const ids = new Set(events.map(({ id }) => id));
    const takeBack = credentials.length > 0 ? await keepCredentials(invocation.services, credentials) : undefined;
    try {
      return { at, stored: await session.store(events, epoch, at) };
    } catch (error) {
      // What came with answers that somebody else was faster with was not asked for any more.
      await takeBack?.();
      await readOn(session, { error, at, tries }, outrun);
      // Made again, they would be stored again and again by a store that says no to what it does.
      if (session.since(at).some(({ id, invocationId }) => invocationId === invocation.invocationId && ids.has(id)))
        throw error;
    }
  }
}
