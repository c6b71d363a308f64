import { Media } from './media.ts';
import type { TimeLike } from './raw-value.ts';
import { RawValue } from './raw-value.ts';

export type MessageRole = 'user' | 'assistant';

export interface RawMessage {
  id: string;
  role: MessageRole;
  /** Required unless there are attachments. */
  content?: string | undefined;
  attachments?: readonly Media[] | undefined;
  /** Who wrote it, where that is more than the role. */
  identity?: string | undefined;
  createdAt: TimeLike;
  updatedAt: TimeLike;
}

/** What a person or the model said. Immutable. */
export class Message {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | undefined;
  readonly attachments: readonly Media[];
  readonly identity: string;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` */
  constructor(raw: RawMessage) {
    const value = new RawValue('Message', raw);
    this.id = value.text('id');
    this.role = value.oneOf('role', ['user', 'assistant']);
    this.content = value.optionalText('content');
    const attachments = raw?.attachments ?? [];
    this.attachments = Object.freeze([...attachments]);
    if (!this.attachments.every((item) => item instanceof Media)) value.fault('attachments: expected Media', undefined);
    if (this.content === undefined && this.attachments.length === 0) {
      value.fault('content: expected text or attachments', undefined);
    }
    this.identity = value.optionalText('identity') ?? this.role;
    this.#createdAt = value.time('createdAt');
    this.#updatedAt = value.time('updatedAt');
    value.done();
    Object.freeze(this);
  }

  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }
}
