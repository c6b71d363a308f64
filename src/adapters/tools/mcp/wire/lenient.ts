import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../../../base/index.ts';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../../../../contracts/index.ts';
import { toJsonValue } from '../../../../gate/index.ts';
import type { Reading } from './listed.ts';
import { readListed } from './listed.ts';
import type { Members } from './nulls.ts';
import { dropNulls, dropNullsWithin, isBefore2026 } from './nulls.ts';

/**
 * Mends what a server has written and the SDK would refuse whole, though it means no harm: null for what is absent, one
 * tool or block that is none beside good ones, a cursor that was there before. In place, before the SDK reads it.
 */
export function readLeniently(message: JSONRPCMessage, reading: Reading): void {
  if ('method' in message) {
    if (!isObject(message.params)) return;
    cutDeep(message.params);
    dropNulls(message.params);
    return;
  }
  if ('error' in message) cutDeep(message.error as unknown as Members);
  if (!('result' in message) || !isObject(message.result)) return;
  const result: Members = message.result;
  cutDeep(result);
  // From 2026 on null is a structured answer like any other.
  const { structuredContent } = result;
  dropNulls(result);
  if (structuredContent === null && !isBefore2026(reading.version)) result.structuredContent = null;
  for (const member of ['serverInfo', 'capabilities']) dropNullsWithin(result[member]);
  if (Array.isArray(result.tools)) readListed(result as Members & { tools: unknown[] }, reading);
  if (Array.isArray(result.contents)) for (const item of result.contents) if (isObject(item)) dropNulls(item);
  if (Array.isArray(result.content)) result.content = result.content.map((block) => readable(block, reading.sdk));
}

/** A block as it can be shown; one that is not understood says so, and the rest of the answer stays. */
function readable(block: unknown, { specTypeSchemas }: Reading['sdk']): unknown {
  if (isObject(block)) {
    dropNulls(block);
    for (const member of ['annotations', '_meta', 'resource']) dropNullsWithin(block[member]);
  }
  const { issues } = specTypeSchemas.ContentBlock['~standard'].validate(block) as { issues?: readonly unknown[] };
  if (!issues) return block;
  const type =
    isObject(block) && typeof block.type === 'string' ? `of type ${JSON.stringify(block.type)}` : 'of no type';
  return { type: 'text', text: `[a part ${type} was left out: it is not one that is understood here]` };
}

/** What is nested without end is cut before anything walks it. A list of tools is measured tool by tool. */
function cutDeep(members: Members): void {
  for (const [name, value] of Object.entries(members)) {
    if (name === 'tools' && Array.isArray(value)) continue;
    if (isNestedDeeper(value, MAX_JSON_DEPTH)) members[name] = toJsonValue(value);
  }
}
