import type {
  AgentEvent,
  ExecutionOptions,
  ExecutorSession,
  SessionInput,
  StreamEndEvent,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { inTime, isPipeable, pipe } from '../../session/index.ts';

/** Milliseconds that an executor has to close a stream after its end. */
const CLOSE_MS = 5000;

/** Who looks at what an inner stream shows. */
export interface InnerShown {
  /** Told of each event but the end. */
  see: ((event: AgentEvent) => void) | undefined;
  /** The host has shown its `initialize`, which comes once a handle. */
  isIntroduced: boolean;
}

/** Runs one inner stream into `out`: everything but its end. */
export function runInner(
  inner: ExecutorSession,
  inputs: readonly SessionInput[],
  options: ExecutionOptions,
  out: StreamQueue<AgentEvent>,
  shown: InnerShown | undefined,
  warn: (message: string) => void,
): Promise<StreamEndEvent> {
  if (isPipeable(inner) && !shown) return inner[pipe](inputs, options, out);
  return show(inner.stream(inputs, options), inner.id, out, shown, warn);
}

async function show(
  stream: AsyncIterable<AgentEvent>,
  sessionId: string,
  out: StreamQueue<AgentEvent>,
  shown: InnerShown | undefined,
  warn: (message: string) => void,
): Promise<StreamEndEvent> {
  let end: StreamEndEvent | undefined;
  const items = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = items.next();
    // What was said to be over holds up nobody: it is not ended either, as that would be an abort of what is open.
    if (end && !(await inTime(next, CLOSE_MS))) {
      warn(`session ${sessionId}: its executor has not closed a stream ${CLOSE_MS} ms after its end; it is left`);
      break;
    }
    const { done, value: event } = await next;
    if (done) break;
    if (event.type === 'stream_end') {
      end = event;
      continue;
    }
    if (shown?.isIntroduced && event.type === 'initialize') continue;
    shown?.see?.(event);
    out.push(event);
    const room = out.room(event.type === 'message' && event.partial === true);
    if (room) await room;
  }
  if (!end) {
    throw new CoxswainError('DATA_LOSS', 'E_INTERNAL', `a stream of session ${sessionId} ended without stream_end`);
  }
  return end;
}
