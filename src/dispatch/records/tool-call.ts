import { Media } from './media.ts';
import type { TimeLike } from './raw-value.ts';
import { RawValue } from './raw-value.ts';
import { snapshot } from './snapshot.ts';
import { SpooledArtifact } from './spooled-artifact.ts';

export interface RawToolCall {
  id: string;
  /** The executor's own fingerprint of tool and arguments; `toolCallChecksum` makes the usual one. */
  checksum: string;
  tool: string;
  args: unknown;
  /** Media, an artifact, lists of either, or JSON. */
  results?: unknown;
  isError?: boolean | undefined;
  isComplete?: boolean | undefined;
  createdAt: TimeLike;
  updatedAt: TimeLike;
  completedAt?: TimeLike | undefined;
}

/** A tool call as the executor remembers it. Immutable. */
export class ToolCall {
  readonly id: string;
  readonly checksum: string;
  readonly tool: string;
  readonly args: unknown;
  readonly results: unknown;
  readonly isError: boolean;
  readonly isComplete: boolean;
  readonly #createdAt: number;
  readonly #updatedAt: number;
  readonly #completedAt: number | undefined;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` */
  constructor(raw: RawToolCall) {
    const value = new RawValue('ToolCall', raw);
    this.id = value.text('id');
    this.checksum = value.text('checksum');
    this.tool = value.text('tool');
    this.args = snapshot(raw?.args);
    this.results = snapshot(raw?.results);
    if (Array.isArray(this.results) && isMixed(this.results))
      value.fault('results: expected items of one kind', undefined);
    this.isError = value.flag('isError');
    this.isComplete = value.flag('isComplete');
    this.#createdAt = value.time('createdAt');
    this.#updatedAt = value.time('updatedAt');
    this.#completedAt = raw?.completedAt === undefined ? undefined : value.time('completedAt');
    value.done();
    Object.freeze(this);
  }

  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }

  get completedAt(): Date | undefined {
    return this.#completedAt === undefined ? undefined : new Date(this.#completedAt);
  }
}

function isMixed(items: readonly unknown[]): boolean {
  const kinds = new Set(
    items.map((item) => (item instanceof Media ? 'media' : item instanceof SpooledArtifact ? 'artifact' : 'json')),
  );
  return kinds.size > 1;
}
