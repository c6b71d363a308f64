import type { Content, ContentPart } from '../../contracts/index.ts';
import { canonicalJson, copyJson, deepFreeze, setOwn } from '../../contracts/index.ts';
import type { EventActions, StoredEvent } from '../log/index.ts';
import { storedDelta } from '../log/index.ts';
import { failClosed, hookFailed } from './hook-wait.ts';
import type { InvocationInfo } from './invocation-info.ts';
import type { Plugin } from './plugin.ts';

/**
 * Passes an event through the on_event hooks before it is stored; the first that returns something wins. What a hook
 * may change is what the event says and the deltas and signals that it carries. Identity, place, marks and calls are
 * the runtime's: a call or a response that got lost here would be waited for, or made again, without end.
 * @throws CoxswainError `INTERNAL / E_HOOK_FAILED`, `INVALID_ARGUMENT / E_NOT_JSON`
 */
export async function editEvent(
  info: InvocationInfo,
  plugins: readonly Plugin[],
  event: StoredEvent,
  signal: AbortSignal,
): Promise<StoredEvent> {
  const shown = forHooks(event);
  for (const plugin of plugins) {
    const point = `${plugin.name}.onEvent`;
    const replaced: unknown = await failClosed(point, signal, async () => plugin.onEvent?.(info, shown));
    if (replaced) return edited(event, replaced, point);
  }
  return event;
}

/** Whoever wants another event returns one: a change in place would pass the check by. */
function forHooks(event: StoredEvent): StoredEvent {
  const { content, actions } = event;
  const { stateDelta, artifactDelta } = actions;
  const frozen = Object.freeze({
    ...actions,
    stateDelta: deepFreeze(stateDelta),
    artifactDelta: deepFreeze(artifactDelta),
  });
  return Object.freeze({ ...event, ...(content ? { content: deepFreeze(content) } : {}), actions: frozen });
}

const words = [
  'usage',
  'finishReason',
  'errorCode',
  'errorMessage',
  'citationMetadata',
  'groundingMetadata',
] as const satisfies readonly (keyof StoredEvent)[];

function edited(event: StoredEvent, replaced: unknown, point: string): StoredEvent {
  if (typeof replaced !== 'object' || replaced === null || Array.isArray(replaced))
    throw hookFailed(point, 'what it gave is no event');
  const given = copyJson(replaced as Partial<StoredEvent>, point);
  const made: StoredEvent = { ...event, actions: actionsOf(event.actions, given.actions, point) };
  for (const name of words) if (given[name] !== undefined) Object.assign(made, { [name]: given[name] });
  // Of an event of a custom agent it says which of its steps it is.
  if (given.customMetadata) made.customMetadata = { ...given.customMetadata, ...ownMetadata(event) };
  const content = contentOf(event, replaced, given, point);
  if (content) made.content = content;
  return made;
}

const own = ['compacted', 'replaces', 'role', 'saidBy', 'settledBy', 'step', 'tried', 'value'];

function ownMetadata({ customMetadata = {} }: StoredEvent): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key of own) if (Object.hasOwn(customMetadata, key)) setOwn(kept, key, customMetadata[key]);
  return kept;
}

function actionsOf(actions: EventActions, given: unknown, point: string): EventActions {
  if (given === undefined) return actions;
  const { stateDelta, escalate, skipSummarization, transferToAgent } = Object(given) as Partial<EventActions>;
  if (stateDelta !== undefined && (typeof stateDelta !== 'object' || stateDelta === null || Array.isArray(stateDelta)))
    throw hookFailed(point, 'its actions.stateDelta is no object');
  return {
    ...actions,
    ...(stateDelta === undefined ? {} : { stateDelta: storedDelta(stateDelta) }),
    ...(typeof escalate === 'boolean' ? { escalate } : {}),
    ...(typeof skipSummarization === 'boolean' ? { skipSummarization } : {}),
    ...(typeof transferToAgent === 'string' ? { transferToAgent } : {}),
  };
}

function contentOf(
  event: StoredEvent,
  replaced: object,
  given: Partial<StoredEvent>,
  point: string,
): Content | undefined {
  const { content } = event;
  // Left out it stays as it was; taken away it says nothing, and is still the event that was waited for.
  if (!('content' in replaced)) return content;
  const parts: unknown = given.content === undefined || given.content === null ? [] : given.content.parts;
  if (!Array.isArray(parts)) throw hookFailed(point, 'its content has no parts');
  if (!content) {
    if (parts.length === 0) return undefined;
    throw hookFailed(point, 'it gave words to an event that says nothing');
  }
  checkCalls(content.parts, parts as ContentPart[], point);
  return { ...content, parts: parts as ContentPart[] };
}

/** Calls stay as they were checked; what a response says may change, that it is there may not. */
function checkCalls(before: readonly ContentPart[], after: readonly ContentPart[], point: string): void {
  const left = new Map(before.flatMap((part) => (isCallPart(part) ? [[nameOf(part), part] as const] : [])));
  for (const part of after) {
    if (!isCallPart(part)) continue;
    const known = left.get(nameOf(part));
    if (!known) throw hookFailed(point, `it made a ${part.type} of its own (${part.name})`);
    if (known.type === 'function_call' && part.type === 'function_call' && !isSame(known.args, part.args)) {
      throw hookFailed(point, `it changed the arguments of a call of ${part.name}; a before_tool hook may`);
    }
    left.delete(nameOf(part));
  }
  for (const { type, name } of left.values()) {
    throw hookFailed(point, `it left out a ${type} (${name}); what a response says may be replaced`);
  }
}

type CallPart = Extract<ContentPart, { type: 'function_call' | 'function_response' }>;

function isCallPart(part: ContentPart): part is CallPart {
  return part.type === 'function_call' || part.type === 'function_response';
}

const nameOf = ({ type, id, name }: CallPart) => JSON.stringify([type, id, name]);
const isSame = (a: unknown, b: unknown) => canonicalJson(a) === canonicalJson(b);
