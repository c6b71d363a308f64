import type { AgentDescriptor, ReportedRequest, StreamEndData } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import { outputValue } from '../agent/index.ts';
import type { Standing, StoredEvent } from '../log/index.ts';
import { isTruncated } from '../model/index.ts';
import type { RuntimeSession } from './runtime-session.ts';

/** What a stored end sums up, now and whenever it is read back. */
export function storedEnd(session: RuntimeSession, descriptor: AgentDescriptor, end: StoredEvent): StreamEndData {
  const { log } = session.live;
  const standing = session.standing.ends.get(end.seq) ?? session.standing;
  const data = endData(standing, session.open(standing), end);
  const isCompleted = end.actions.end?.reason === 'completed';
  if (!isCompleted) return data;
  const output = outputOf(log, descriptor, end.turnId);
  return {
    ...data,
    ...(output === undefined ? {} : { output }),
    ...(isCutShort(log, end.turnId) ? { truncated: true } : {}),
  };
}

/** What was said last was cut at the model's output limit. An executor may say so behind its words. */
function isCutShort(log: readonly StoredEvent[], turnId: string): boolean {
  const last = log.findLast(
    (event) =>
      event.turnId === turnId &&
      event.iso === undefined &&
      (event.content?.role === 'model' || event.finishReason !== undefined),
  );
  return last !== undefined && isTruncated(last);
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
function outputOf(log: readonly StoredEvent[], { name, outputSchema }: AgentDescriptor, turnId: string): unknown {
  if (!outputSchema) return undefined;
  const last = log.findLast(
    (event) =>
      event.turnId === turnId && event.author === name && event.iso === undefined && event.content?.role === 'model',
  );
  const text = textOfParts(last?.content?.parts ?? []);
  const value = outputValue(outputSchema, text);
  return value === text ? undefined : value;
}
