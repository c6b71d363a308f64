import { createHash, hash } from 'node:crypto';
import { Pace } from '../../base/index.ts';
import type { EventActions, StoredEvent } from './event.ts';

// In the order of their names. What an event has without saying anything by it is left out, so that little is hashed.
const fields: readonly (keyof StoredEvent)[] = [
  'author',
  'branch',
  'citationMetadata',
  'content',
  'customMetadata',
  'error',
  'errorCode',
  'errorMessage',
  'finishReason',
  'groundingMetadata',
  'id',
  'interrupted',
  'invocationId',
  'iso',
  'model',
  'path',
  'streamId',
  'thread',
  'timestamp',
  'turnId',
  'usage',
];
// Nothing and an empty text are not the same there.
const optional = new Set<string>(['branch', 'errorCode', 'errorMessage', 'finishReason', 'iso', 'model', 'thread']);
const others = new Set<string>(['actions', 'chain', 'longRunningToolIds', 'partial', 'seq', 'turnComplete']);
const known = new Set<string>([...fields, ...others]);
const noActions: Readonly<Record<string, unknown>> = { escalate: false, skipSummarization: false };

const contentAt = fields.indexOf('content');
const beforeContent = fields.slice(0, contentAt);
const afterContent = fields.slice(contentAt + 1);

/**
 * SHA-256 of all that an event holds but its place and its link: the same before and after it was stored, whatever
 * order its members have. Events are JSON; what is not is refused by the store.
 */
export function digestOf(event: StoredEvent): string {
  return hash('sha256', `${fieldsText(event, fields)}${restText(event)}`, 'base64url');
}

/** The same for an event of many parts: others of the process are let in on the way. */
export async function digestInPieces(event: StoredEvent): Promise<string> {
  const { content } = event;
  if (!content) return digestOf(event);
  const pace = new Pace();
  const sum = createHash('sha256').update(`${fieldsText(event, beforeContent)}content={`);
  for (const key of Object.keys(content).sort()) {
    const member = content[key as keyof typeof content];
    if (member === undefined) continue;
    if (!Array.isArray(member)) {
      sum.update(`${quoted(key)}${canonical(member)},`);
      continue;
    }
    let text = `${quoted(key)}[`;
    for (const item of member) {
      text += `${canonical(item)},`;
      const rest = pace.rest();
      if (!rest) continue;
      sum.update(text);
      text = '';
      await rest;
    }
    sum.update(`${text}],`);
  }
  return sum.update(`},${fieldsText(event, afterContent)}${restText(event)}`).digest('base64url');
}

function fieldsText(event: StoredEvent, names: readonly (keyof StoredEvent)[]): string {
  let text = '';
  for (const name of names) {
    const value = event[name];
    if (value !== undefined && (value !== '' || optional.has(name))) text += `${name}=${canonical(value)},`;
  }
  return text;
}

function restText(event: StoredEvent): string {
  let text = '';
  if (event.longRunningToolIds.length > 0) text += `long=${canonical(event.longRunningToolIds)},`;
  if (!event.turnComplete) text += 'incomplete,';
  // Of a newer version.
  for (const key in event) {
    if (!known.has(key)) text += `${quoted(key)}${canonical((event as unknown as Record<string, unknown>)[key])},`;
  }
  return `${text}${actionsText(event.actions)}`;
}

function actionsText(actions: EventActions): string {
  const keys: string[] = [];
  for (const key in actions) keys.push(key);
  let text = '';
  for (const key of keys.sort()) {
    const value = (actions as unknown as Record<string, unknown>)[key];
    if (value === undefined || value === noActions[key]) continue;
    // What lives for one run only is not stored.
    const part = key === 'stateDelta' ? objectText(value as object, 'temp:') : canonical(value);
    if (part !== '{}') text += `${quoted(key)}${part},`;
  }
  return `{${text}}`;
}

function canonical(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (!Array.isArray(value)) return objectText(value);
  let text = '';
  for (const item of value) text += `${canonical(item)},`;
  return `[${text}]`;
}

/** Members in the order of their names; those that begin with `skip` and those that are undefined are left out. */
function objectText(value: object, skip?: string): string {
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = '';
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined || (skip !== undefined && key.startsWith(skip))) continue;
    text += `${quoted(key)}${canonical(member)},`;
  }
  return `{${text}}`;
}

/** With its length before it, a text needs no quotes; broken UTF-16 would be mended on its way into the hash. */
function quoted(text: string): string {
  return text.isWellFormed() ? `${text.length}:${text}` : JSON.stringify(text);
}
