import type { AgentDescriptor, ContentPart, ReportedRequest, StreamEndData } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { outputValue } from '../agent/index.ts';
import type { Standing, StoredEvent } from '../log/index.ts';
import { isTruncated } from '../model/index.ts';
import type { RuntimeSession } from './runtime-session.ts';

/** What a stored end sums up, now and whenever it is read back. */
export function storedEnd(session: RuntimeSession, descriptor: AgentDescriptor, end: StoredEvent): StreamEndData {
  const turn = () => turnBefore(session.live.log, end);
  const standing = session.standing.ends.get(end.seq) ?? session.standing;
  const data = endData(standing, session.open(standing), end);
  const isCompleted = end.actions.end?.reason === 'completed';
  if (!isCompleted) return data;
  const output = outputOf(turn(), descriptor);
  return {
    ...data,
    ...(output === undefined ? {} : { output }),
    ...(isCutShort(turn()) ? { truncated: true } : {}),
  };
}

/**
 * The events of the turn that this one ends, the newest first, as far as they are asked for. Read from its end back to its
 * beginning: whoever reads a whole log asks this for each of its turns.
 */
function* turnBefore(log: readonly StoredEvent[], { seq, turnId }: StoredEvent): Generator<StoredEvent, void> {
  for (let at = placeBehind(log, seq) - 1; at >= 0; at--) {
    const event = log[at];
    if (event?.turnId !== turnId) continue;
    yield event;
    if (event.actions.turn) return;
  }
}

/** Index of the first event with a higher seq. */
function placeBehind(log: readonly StoredEvent[], seq: number): number {
  let from = 0;
  let to = log.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((log[middle]?.seq ?? 0) <= seq) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** What was said last was cut at the model's output limit. An executor may say so behind its words. */
function isCutShort(turn: Iterable<StoredEvent>): boolean {
  for (const event of turn) {
    if (event.iso !== undefined) continue;
    if (event.content?.role === 'model' || event.finishReason !== undefined) return isTruncated(event);
  }
  return false;
}

/** What an end sums up; `end` is its record, where there is one. */
export function endData({ turn, open }: Standing, pending: ReportedRequest[], end?: StoredEvent): StreamEndData {
  const data: StreamEndData = { usage: turn?.usage ?? {}, steps: turn?.llmCalls ?? 0, ...end?.actions.end?.data };
  if (pending.length > 0) data.pending = pending;
  const longRunning = [...open.values()].filter((call) => call.interim).map((call) => call.id);
  if (longRunning.length > 0) data.pendingToolIds = longRunning;
  return data;
}

/** The value that the agent's output schema promises, of its last words; undefined where it promises none. */
function outputOf(turn: Iterable<StoredEvent>, { name, outputSchema }: AgentDescriptor): unknown {
  if (!outputSchema) return undefined;
  const text = textOfParts(lastWords(turn, name));
  const value = outputValue(outputSchema, text);
  return value === text ? undefined : value;
}

function lastWords(turn: Iterable<StoredEvent>, author: string): readonly ContentPart[] {
  for (const event of turn) {
    if (event.author === author && event.iso === undefined && event.content?.role === 'model')
      return event.content.parts;
  }
  return [];
}
