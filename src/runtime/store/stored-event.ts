import type { StoredEvent } from '../log/index.ts';
import { noEffects, noIds } from '../log/index.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isAction: Check = (value) => value === 'accept' || value === 'decline' || value === 'cancel';
const isFlag: Check = (value) => typeof value === 'boolean';
/** Epoch milliseconds that a date can have. */
const isTime: Check = (value) => typeof value === 'number' && Math.abs(value) <= 8_640_000_000_000_000;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isMap: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (check: Check): Check => {
  return (value) => Array.isArray(value) && value.every(check);
};
const isTexts = listOf(isText);
const mapOf = (check: Check): Check => {
  return (value) => {
    if (!isMap(value)) return false;
    for (const key in value as Record<string, unknown>)
      if (!check((value as Record<string, unknown>)[key])) return false;
    return true;
  };
};

interface Field {
  optional: boolean;
  check: Check;
  /** A field of which nothing else is checked: most are, and a call for each would cost more than the look. */
  plain: 'string' | 'boolean' | undefined;
  isRequired: boolean;
}

/** Each event of a log is checked when it is read: what can be known of the fields is made once. */
interface Fields {
  readonly byName: ReadonlyMap<string, Field>;
  readonly required: readonly string[];
}

/** Fields with a `?` may be absent; `required`: all may be, but these. */
const fieldsOf = (checks: Record<string, Check>, required?: readonly string[]): Fields => {
  const byName = new Map<string, Field>();
  for (const [key, check] of Object.entries(checks)) {
    const plain = check === isText ? 'string' : check === isFlag ? 'boolean' : undefined;
    const optional = key.endsWith('?');
    const name = key.replace(/\?$/, '');
    byName.set(name, { optional, check, plain, isRequired: required?.includes(name) ?? !optional });
  }
  return { byName, required: required ?? [...byName.keys()].filter((name) => byName.get(name)?.isRequired) };
};

/** What is there is looked at, rather than all that could be: most events have a few of many fields. */
function fits(value: Record<string, unknown>, { byName, required }: Fields): boolean {
  let found = 0;
  for (const name in value) {
    const field = byName.get(name);
    if (field === undefined) continue;
    const member = value[name];
    if (member === undefined) {
      if (field.optional) continue;
      return false;
    }
    if (typeof member !== field.plain && !field.check(member)) return false;
    if (field.isRequired) found++;
  }
  return found === required.length;
}

/** The first field that does not fit: one that is missing before one that is there. */
function faultIn(value: Record<string, unknown>, fields: Fields): string | undefined {
  if (fits(value, fields)) return undefined;
  for (const name of fields.required) if (value[name] === undefined) return name;
  for (const name in value) {
    const field = fields.byName.get(name);
    if (!field || (field.optional && value[name] === undefined)) continue;
    if (!field.check(value[name])) return name;
  }
  return undefined;
}

/** An object whose fields fit; others that are not named may be there. */
const shape = (checks: Record<string, Check>): Check => {
  const list = fieldsOf(checks);
  return (value) => isMap(value) && fits(value as Record<string, unknown>, list);
};

const parts = new Map<unknown, Check>([
  ['thought', shape({ thought: isText })],
  ['function_call', shape({ id: isText, name: isText, args: isMap })],
  ['function_response', shape({ id: isText, name: isText, response: isMap, 'content?': listOf(isMap) })],
]);
const isTyped = shape({ type: isText });
const isPart: Check = (value) => {
  if (!isMap(value)) return false;
  const { type, text } = value as { type?: unknown; text?: unknown };
  // Most parts.
  if (type === 'text') return typeof text === 'string';
  return parts.get(type)?.(value) ?? isText(type);
};
const isContent: Check = (value) => {
  if (!isMap(value)) return false;
  const { role, parts } = value as { role?: unknown; parts?: unknown };
  if ((role !== 'user' && role !== 'model') || !Array.isArray(parts)) return false;
  for (let at = 0; at < parts.length; at++) if (!isPart(parts[at])) return false;
  return true;
};
const isReadable = shape({ parts: listOf(isTyped) });

const eventFields: Record<string, Check> = {
  id: isText,
  seq: isCount,
  turnId: isText,
  invocationId: isText,
  streamId: isText,
  path: isText,
  author: isText,
  'branch?': isText,
  'iso?': isText,
  'thread?': isText,
  timestamp: isTime,
  'content?': isContent,
  partial: (value) => value === false,
  turnComplete: isFlag,
  'finishReason?': isText,
  'errorCode?': isText,
  'errorMessage?': isText,
  'error?': shape({ status: isText, fatal: isFlag, retryable: isFlag, 'details?': isMap }),
  'interrupted?': isFlag,
  'model?': isText,
  'usage?': isMap,
  'citationMetadata?': isMap,
  'groundingMetadata?': isMap,
  'customMetadata?': isMap,
  longRunningToolIds: (value) => value === noIds || isTexts(value),
  'chain?': shape({ after: isText, hash: isText, 'batch?': isFlag }),
};
const fields = fieldsOf(eventFields);
/** What agents of other people's making write is read as they wrote it, as far as it can be read at all. */
const readable = fieldsOf({
  ...eventFields,
  timestamp: Number.isFinite as Check,
  // Most are as ours are, which takes fewer looks.
  'content?': (value) => isContent(value) || isReadable(value),
});

const actionChecks: Record<string, Check> = {
  stateDelta: isMap,
  artifactDelta: mapOf(isCount),
  escalate: isFlag,
  skipSummarization: isFlag,
  'transferToAgent?': isText,
  'requestedToolConfirmations?': mapOf(isMap),
  'requestedAuthConfigs?': mapOf(isMap),
  'turn?': shape({ start: isText }),
  'terms?': shape({
    'principal?': shape({ id: isText, 'roles?': listOf(isText), 'onBehalfOf?': isText }),
    'permissionMode?': isText,
    'excludeTools?': listOf(isText),
    'tools?': listOf(isMap),
    'model?': isText,
    'limits?': mapOf(Number.isFinite as Check),
  }),
  'reopened?': isFlag,
  'decisions?': mapOf(
    shape({ outcome: isText, by: isText, 'redact?': listOf(isText), 'asked?': isMap, 'tailCalls?': listOf(isMap) }),
  ),
  'started?': listOf(isText),
  'asks?': listOf(
    shape({
      requestId: isText,
      callId: isText,
      kind: isText,
      message: isText,
      'redact?': listOf(isText),
      'expiresAt?': isTime,
    }),
  ),
  'answers?': mapOf(
    shape({
      action: isAction,
      'by?': isText,
      'roles?': listOf(isText),
      'onBehalfOf?': isText,
      'reason?': isText,
      'args?': isMap,
      'content?': isMap,
      'digest?': isText,
      'quorum?': isCount,
    }),
  ),
  'questions?': listOf(
    shape({
      requestId: isText,
      'reason?': isText,
      'ruleId?': isText,
      'approvers?': shape({
        'roles?': listOf(isText),
        'notRequester?': isFlag,
        'quorum?': isCount,
        'also?': listOf(listOf(isText)),
      }),
      'expiresAt?': isText,
      'redact?': listOf(isText),
      'digest?': isText,
      'remember?': listOf(isText),
      'args?': isMap,
    }),
  ),
  'interim?': mapOf(isMap),
  'completed?': listOf(shape({ path: isText, agent: isText, outcome: isMap, 'thread?': isText, 'aborted?': isFlag })),
  'began?': listOf(shape({ path: isText, agent: isText, 'iteration?': isCount, 'thread?': isText })),
  'entered?': listOf(isText),
  'exited?': listOf(isText),
  'hook?': isText,
  'steer?': isFlag,
  'delivered?': listOf(isText),
  'config?': isMap,
  'end?': shape({ reason: isText, 'data?': isMap }),
  'abort?': shape({ reason: isText, 'requestId?': isText, 'threadId?': isText }),
  'rewound?': shape({ through: isCount }),
  'compacted?': shape({
    from: isCount,
    through: isCount,
    'summary?': isText,
    'cleared?': mapOf(isCount),
    tokensBefore: isCount,
    tokensAfter: isCount,
    by: isText,
    'model?': isText,
  }),
};
const actionFields = fieldsOf(actionChecks);

/** All may be absent but what is named. */
const sparse = (checks: Record<string, Check>, ...required: string[]): Fields => fieldsOf(checks, required);
// What a line says is assigned to an event: under this name that would be what the event inherits from.
const inLine = sparse({ ...eventFields, '__proto__?': () => false }, 'id', 'author', 'timestamp');
const actionsInLine = sparse(actionChecks);

/** What is known of a value that is to be an event: all that an event has, or what was read of our own tables, or of a line. */
const fieldsIn = { whole: fields, row: readable, line: inLine };

/** The ids of events that settle a call are made of its id: one of which none can be made is in no line. */
const callId = /^(?! )[^\p{Cc}]{1,200}(?<! )$/u;
function hasUnfitCallId(content: StoredEvent['content']): boolean {
  for (const part of content?.parts ?? []) if (part.type === 'function_call' && !callId.test(part.id)) return true;
  return false;
}

/**
 * The first field of a value that no stored event has like this; undefined if all fit. `row`: from our own tables;
 * `line`: it may leave out what its line says or what most events have alike, so its place is given.
 */
export function faultOfEvent(
  value: Record<string, unknown>,
  form: keyof typeof fieldsIn = 'whole',
  seq: number = value.seq as number,
): string | undefined {
  const fault = faultIn(value, fieldsIn[form]);
  if (fault !== undefined) return fault;
  if (form !== 'row' && hasUnfitCallId(value.content as StoredEvent['content'])) return 'content';
  if (form === 'line' && value.actions === undefined) return undefined;
  if (value.actions === noEffects) return undefined;
  if (!isMap(value.actions)) return 'actions';
  const actions = value.actions as unknown as StoredEvent['actions'];
  const inner = faultIn(actions as unknown as Record<string, unknown>, form === 'line' ? actionsInLine : actionFields);
  if (inner !== undefined) return `actions.${inner}`;
  return actions.rewound && actions.rewound.through >= seq ? 'actions.rewound.through' : undefined;
}
