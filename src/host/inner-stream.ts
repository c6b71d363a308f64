import type { AgentEvent, AgentSession, ExecutionOptions, SessionInput, StreamEndEvent } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { StreamQueue } from '../session/index.ts';
import { isPipeable, pipe } from '../session/index.ts';

/** Runs one inner stream into `out`; everything but its end is shown, and to `see` too. `isIntroduced`: the host has shown its `initialize`. */
export function runInner(
  inner: AgentSession,
  inputs: readonly SessionInput[],
  options: ExecutionOptions,
  out: StreamQueue<AgentEvent>,
  see: ((event: AgentEvent) => void) | undefined,
  isIntroduced: boolean,
): Promise<StreamEndEvent> {
  if (isPipeable(inner) && !see && !isIntroduced) return inner[pipe](inputs, options, out);
  return readInner(inner, inputs, options, out, see, isIntroduced);
}

async function readInner(
  inner: AgentSession,
  inputs: readonly SessionInput[],
  options: ExecutionOptions,
  out: StreamQueue<AgentEvent>,
  see: ((event: AgentEvent) => void) | undefined,
  isIntroduced: boolean,
): Promise<StreamEndEvent> {
  let end: StreamEndEvent | undefined;
  for await (const event of inner.stream(inputs, options)) {
    if (event.type === 'stream_end') {
      end = event;
      continue;
    }
    // Once a handle.
    if (isIntroduced && event.type === 'initialize') continue;
    see?.(event);
    out.push(event);
    const room = out.room(event.type === 'message' && event.partial === true);
    if (room) await room;
  }
  if (!end) {
    throw new CoxswainError('DATA_LOSS', 'E_INTERNAL', `a stream of session ${inner.id} ended without stream_end`);
  }
  return end;
}
