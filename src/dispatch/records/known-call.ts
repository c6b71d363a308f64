import { CoxswainError } from '../../contracts/index.ts';

/** Whoever passes the id of an earlier call means that call, with what it was called with. */
export function assertSameCall(
  id: string,
  tool: string,
  checksum: string,
  known: { tool: string; checksum: string },
): void {
  if (known.tool === tool && known.checksum === checksum) return;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_INVALID_TOOL_ARGS',
    `call ${id} was made to ${known.tool} with other arguments than this one to ${tool}; a new call needs a new id`,
  );
}

/** One value for one call id: an id that is still on its way gives the same promise. */
export class CallsById {
  readonly #calls = new Map<string, { tool: string; checksum: string; result: Promise<unknown> }>();

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_TOOL_ARGS` for an id that is another call's */
  once(id: string | undefined, tool: string, checksum: string, run: () => Promise<unknown>): Promise<unknown> {
    if (id === undefined) return run();
    const known = this.#calls.get(id);
    if (known) {
      assertSameCall(id, tool, checksum, known);
      return known.result;
    }
    const result = run();
    this.#calls.set(id, { tool, checksum, result });
    return result;
  }
}
