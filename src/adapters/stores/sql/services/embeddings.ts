import { breath, untilLate } from '../../../../base/index.ts';
import { CoxswainError } from '../../../../contracts/index.ts';
import type { Shape } from '../../../../session/index.ts';
import { amount, checkOptions, fn, name, required } from '../../../../session/index.ts';

/** How texts become vectors, by which memory is searched beside its words. */
export interface EmbeddingOptions {
  /** Of the model behind `embed`. Vectors of another name are not compared: their sessions are found by words alone until they are added again. At most 64 characters. */
  name: string;
  /** A vector for each of at most 64 texts, all of the same length. What it throws, `addSession` throws; a search goes by words alone then. */
  embed(texts: readonly string[], options: { signal: AbortSignal }): Promise<readonly ArrayLike<number>[]>;
  /** The newest entries of a user that a search compares. Default 5,000. */
  maxEntries?: number;
  /** Cosine below which an entry without a word of the query is not found, from 0. Default 0.3. */
  minSimilarity?: number;
  /** Milliseconds for one call of `embed`. 0: no limit. Default 30,000. */
  timeoutMs?: number;
  /** Gets why a search went by words alone. */
  warn?: (message: string, error?: unknown) => void;
}

const shape: Shape<EmbeddingOptions> = {
  name: required(name),
  embed: required(fn),
  maxEntries: amount,
  minSimilarity: amount,
  timeoutMs: amount,
  warn: fn,
};
/** Texts that one call is given. */
const BATCH = 64;
const MAX_NAME = 64;
const MAX_LENGTH = 16_384;

/** Where an entry stands, among those of its user. */
export interface Placed {
  readonly session: string;
  readonly ordinal: number;
}

/** Vectors of unit length, and what is like what. */
export class Embeddings {
  readonly name: string;
  readonly maxEntries: number;
  readonly minSimilarity: number;
  readonly warn: NonNullable<EmbeddingOptions['warn']>;
  readonly #embed: EmbeddingOptions['embed'];
  readonly #timeoutMs: number;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
  constructor(options: EmbeddingOptions) {
    checkOptions<EmbeddingOptions>(options, 'withEmbeddings: options', shape);
    if (options.name.length > MAX_NAME) throw bad(`the name is longer than ${MAX_NAME} characters`);
    this.name = options.name;
    this.maxEntries = Math.floor(options.maxEntries ?? 5_000);
    this.minSimilarity = options.minSimilarity ?? 0.3;
    this.warn = options.warn ?? (() => {});
    this.#embed = options.embed.bind(options);
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /** In the order of the texts. @throws what `embed` throws; CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what are no vectors */
  async of(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += BATCH) {
      const some = texts.slice(at, at + BATCH);
      const given = await this.#given(some);
      if (!Array.isArray(given) || given.length !== some.length) {
        throw bad(`embed gave ${Array.isArray(given) ? given.length : 'no'} vectors for ${some.length} texts`);
      }
      for (const vector of given as readonly unknown[]) vectors.push(unit(vector));
      const [{ length } = { length: 0 }] = vectors;
      if (vectors.some((vector) => vector.length !== length)) throw bad('embed gave vectors of different lengths');
    }
    return vectors;
  }

  async #given(texts: readonly string[]): Promise<unknown> {
    const over = new AbortController();
    try {
      return await untilLate(
        Promise.resolve().then(() => this.#embed(texts, { signal: over.signal })),
        this.#timeoutMs,
        undefined,
      );
    } catch (error) {
      over.abort(error);
      throw error;
    }
  }

  /**
   * The most similar of the pages, best first, at most `limit`; vectors of another length are none.
   * Between two pages others have the event loop.
   */
  async nearest(
    query: Float32Array,
    pages: (from: number, count: number) => Promise<readonly (Placed & { vector: Float32Array })[]>,
    limit: number,
  ): Promise<Placed[]> {
    const found: { at: Placed; similarity: number }[] = [];
    for (let from = 0; from < this.maxEntries; from += PAGE) {
      const count = Math.min(PAGE, this.maxEntries - from);
      const page = await pages(from, count);
      for (const { vector, session, ordinal } of page) {
        const similarity = vector.length === query.length ? dot(query, vector) : 0;
        if (similarity >= this.minSimilarity && similarity > 0) found.push({ at: { session, ordinal }, similarity });
      }
      if (page.length < count) break;
      await breath();
    }
    return found
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, limit)
      .map(({ at }) => at);
  }
}

/** Vectors that are read at once. */
const PAGE = 256;

/** How far down a ranking an entry may stand and still count beside the other ranking: the usual constant of reciprocal ranks. */
const DEPTH = 60;

/** One order of several: an entry counts by its place in each. */
export function merged(rankings: readonly (readonly Placed[])[]): Placed[] {
  const scores = new Map<string, { at: Placed; score: number }>();
  for (const ranking of rankings) {
    for (const [rank, at] of ranking.entries()) {
      const key = JSON.stringify([at.session, at.ordinal]);
      const entry = scores.get(key) ?? { at, score: 0 };
      entry.score += 1 / (DEPTH + rank + 1);
      scores.set(key, entry);
    }
  }
  return [...scores.values()].sort((a, b) => b.score - a.score).map(({ at }) => at);
}

export function bytesOfVector(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength).slice();
}

export function vectorOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.byteLength / 4));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** Of length one, so that a product is a cosine. */
function unit(given: unknown): Float32Array {
  const { length } = Object(given) as { length?: unknown };
  if (typeof length !== 'number' || length < 1 || length > MAX_LENGTH) {
    throw bad(`embed gave what is no vector of 1 to ${MAX_LENGTH} numbers`);
  }
  const vector = Float32Array.from(given as ArrayLike<number>);
  const norm = Math.sqrt(dot(vector, vector));
  if (!Number.isFinite(norm)) throw bad('embed gave a vector with what is no number');
  return norm === 0 ? vector : vector.map((one) => one / norm);
}

function bad(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `memory: ${what}`);
}
