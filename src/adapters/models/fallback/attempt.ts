import type { Usage } from '../../../contracts/index.ts';
import { isCoxswainError, messageOf } from '../../../contracts/index.ts';
import type { CallMeter, Model, ModelCallOptions, ModelRequest, ModelResponse } from '../../../runtime/index.ts';
import { modelFailureOf, redact } from '../content/index.ts';

/** What a model said first, or what it threw that no other model would mend. */
export type First = { from: Attempt } & ({ frame: ModelResponse } | { thrown: unknown });

/** One model that is being asked. */
export class Attempt {
  readonly model: Model;
  /** Never rejects. */
  readonly first: Promise<First>;
  readonly #frames: AsyncIterator<ModelResponse>;
  readonly #controller = new AbortController();
  readonly #meter: CallMeter = {};
  readonly #parent: AbortSignal;

  constructor(model: Model, request: ModelRequest, options: ModelCallOptions) {
    this.model = model;
    this.#parent = options.signal;
    const signal = AbortSignal.any([options.signal, this.#controller.signal]);
    this.#frames = framesOf(model, { ...request, model: model.name }, { ...options, signal, meter: this.#meter });
    this.first = this.#begin();
  }

  async #begin(): Promise<First> {
    try {
      return { from: this, frame: await this.next() };
    } catch (thrown) {
      // What is wrong with the set-up is not hidden behind another model.
      if (this.#parent.aborted || isCoxswainError(thrown)) return { from: this, thrown };
      const { code, retryable } = modelFailureOf(thrown);
      const errorMessage = redact(`${this.model.name}: ${code}: ${messageOf(thrown)}`, []);
      return { from: this, frame: { errorCode: code, errorMessage, retryable } };
    }
  }

  /** Its next frame; the end of what it says without an answer is a failure. */
  async next(): Promise<ModelResponse> {
    const { done, value } = await this.#frames.next();
    if (!done) return value;
    const errorMessage = `model ${this.model.name} ended without an answer`;
    return { errorCode: 'empty', errorMessage, retryable: true };
  }

  /** What its provider has reported of it so far. */
  get usage(): Usage | undefined {
    return this.#meter.read?.();
  }

  /** What it may still say is not wanted. */
  leave(): void {
    this.#controller.abort(new DOMException('another model has answered', 'AbortError'));
    // How it ends is heard by nobody.
    this.#frames.return?.()?.catch(() => {});
  }
}

/** A model that throws where it is asked throws as one that throws later. */
async function* framesOf(
  model: Model,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelResponse> {
  yield* model.generate(request, options);
}
