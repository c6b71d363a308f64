import { CoxswainError } from '../../contracts/index.ts';
import { bag, checkIs, iterable } from '../../session/index.ts';
import { Message } from './message.ts';
import { Thought } from './thought.ts';
import { ToolCall } from './tool-call.ts';

export interface RecordTypes {
  message: Message;
  thought: Thought;
  toolCall: ToolCall;
}

export type RecordKind = keyof RecordTypes;

/** One write of an executor or a pipeline. */
export type RecordChange = {
  [K in RecordKind]:
    | { op: 'store'; kind: K; value: RecordTypes[K] }
    | { op: 'mutate'; kind: K; value: RecordTypes[K] }
    | { op: 'delete'; kind: K; id: string };
}[RecordKind];

const classes = { message: Message, thought: Thought, toolCall: ToolCall };

/** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` for a value that is not of its kind */
export function checkChange(change: RecordChange): void {
  checkIs(change, 'a change', bag);
  const fits = change.op === 'delete' ? typeof change.id === 'string' : change.value instanceof classes[change.kind];
  if (fits) return;
  const expected = change.op === 'delete' ? 'an id' : `a ${classes[change.kind].name}`;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_INVALID_INITIAL_VALUE',
    `${change.op} ${change.kind}: expected ${expected}`,
  );
}

/** Messages, thoughts and tool calls as one turn sees them, in order. */
export class Records {
  readonly message: Set<Message>;
  readonly thought: Set<Thought>;
  readonly toolCall: Set<ToolCall>;

  constructor(from?: Pick<Records, RecordKind>) {
    if (from !== undefined) checkIs(from, 'Records', bag);
    for (const part of [from?.message, from?.thought, from?.toolCall])
      if (part !== undefined) checkIs(part, 'Records', iterable);
    this.message = new Set(from?.message);
    this.thought = new Set(from?.thought);
    this.toolCall = new Set(from?.toolCall);
  }

  /** An id is there once: storing it again replaces it. */
  apply(change: RecordChange): void {
    const set = this[change.kind] as Set<{ id: string }>;
    if (change.op === 'delete') {
      for (const item of set) if (item.id === change.id) set.delete(item);
      return;
    }
    const { value } = change;
    if (![...set].some(({ id }) => id === value.id)) {
      if (change.op === 'store') set.add(value);
      return;
    }
    // Kept in its place: a set has no other way than to be filled anew.
    const items = [...set].map((item) => (item.id === value.id ? value : item));
    set.clear();
    for (const item of items) set.add(item);
  }
}
