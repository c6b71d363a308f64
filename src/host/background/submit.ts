import type { ExecutionOptions, SessionInput, SessionPlace } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import { begins, isOwn } from '../../session/index.ts';
import type { HostedSession } from '../hosted/index.ts';
import type { OpenOptions } from '../terms/index.ts';

/** How a turn is begun that nobody waits for. */
export interface SubmitOptions
  extends Omit<OpenOptions, 'ephemeral'>,
    Pick<ExecutionOptions, 'excludeTools' | 'limits' | 'model' | 'whilePending'> {
  /** What waits in the dispatcher with a higher one begins first, where that knows of it. A whole number; default 0. */
  priority?: number;
  /**
   * Which of the host's `outcomes` is sent how the turn has ended, once it has: at least once, also where this program ends
   * as soon as `submit` has resolved.
   */
  webhook?: string;
}

/** What a submitted turn is known by. */
export interface SubmittedTurn extends SessionPlace {
  turnId: string;
}

/** What of these options is the session's, and what is the turn's. */
export function splitOptions({
  excludeTools,
  limits,
  model,
  whilePending,
  priority: _,
  webhook: __,
  ...open
}: SubmitOptions): {
  open: OpenOptions;
  turn: ExecutionOptions;
} {
  const turn = {
    ...(excludeTools === undefined ? {} : { excludeTools }),
    ...(limits === undefined ? {} : { limits }),
    ...(model === undefined ? {} : { model }),
    ...(whilePending === undefined ? {} : { whilePending }),
  };
  return { open, turn };
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkPriority(priority: unknown, where: string): void {
  if (priority === undefined || (Number.isInteger(priority) && Math.abs(Number(priority)) <= 1_000_000)) return;
  const message = `${where}.priority: a whole number from -1,000,000 to 1,000,000`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}

/**
 * Stores the beginning of a turn. Where its agent's log is in the host's store nothing of it runs here: whoever is
 * woken goes on with it. Elsewhere it runs here, to its end, and `rest` resolves with that.
 */
export async function storeBeginning(
  session: HostedSession,
  input: string | SessionInput | readonly SessionInput[],
  options: JoiningOptions,
): Promise<{ turnId: string; cursor?: string; rest: Promise<void> | undefined }> {
  const leaves = isOwn(session.inner);
  const given: JoiningOptions = { ...options, streaming: false, ...(leaves ? { [begins]: true } : {}) };
  const stream = session.stream(input, given)[Symbol.asyncIterator]();
  let turnId: string | undefined;
  let cursor: string | undefined;
  let next = await stream.next();
  for (; !next.done && (leaves || turnId === undefined); next = await stream.next()) {
    turnId ??= next.value.turnId;
    cursor ??= next.value.cursor;
  }
  const place = cursor === undefined ? {} : { cursor };
  if (turnId === undefined) {
    const message = `session ${session.id} has begun no turn with this input`;
    throw new CoxswainError('INTERNAL', 'E_INTERNAL', message);
  }
  if (leaves || next.done) return { turnId, ...place, rest: undefined };
  const finish = async () => {
    for (let one = await stream.next(); !one.done; one = await stream.next());
  };
  return { turnId, ...place, rest: finish() };
}
