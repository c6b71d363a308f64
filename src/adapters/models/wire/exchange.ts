import type { ContentPart, PriceTable, Usage } from '../../../contracts/index.ts';
import { isCoxswainError, messageOf, tokenCost } from '../../../contracts/index.ts';
import { pause } from '../../../gate/index.ts';
import type { ModelCallOptions, ModelResponse } from '../../../runtime/index.ts';
import { AnswerCounter, addUsage } from '../../../session/index.ts';
import type { ModelFailure } from '../content/index.ts';
import { modelFailureOf, ProviderFailure, redact, withDistinctIds } from '../content/index.ts';
import type { ModelOptions } from './options.ts';
import { delayBefore, retryAfter } from './retry.ts';
import { Wire } from './wire.ts';

/**
 * Makes one answer of a provider's chunks; the whole response of a call without streaming is one chunk. What it keeps
 * and does not show it counts itself; what it shows is counted where its chunks are read.
 */
export interface Decoder<Chunk> {
  /** Takes a chunk in; what of it is to be shown. */
  push(chunk: Chunk): ContentPart | readonly ContentPart[] | undefined;
  /**
   * The answer. `sentinel`: the end of the stream was marked.
   * @throws ProviderFailure if it is not whole
   */
  finish(end: { stream: boolean; sentinel: boolean }): ModelResponse;
  /** Tokens that were told of so far: an answer that fails has cost them, too. */
  usage(): Usage | undefined;
  /** The answer is complete, whatever else the stream may hold: it is given up. */
  isWhole?(): boolean;
  /** The provider paused and wants to be called again; the decoder is ready for what comes then. */
  goesOn?(): boolean;
}

export interface Exchange<Chunk, D extends Decoder<Chunk>> {
  /** For messages. */
  provider: string;
  /** As it is asked for. */
  model: string;
  options: ModelOptions;
  namedEvents: boolean;
  decoder(counter: AnswerCounter): D;
  open(wire: Wire, decoder: D): Promise<AsyncIterable<Chunk> | Chunk>;
}

/** What Node's own `fetch` allows, too. */
const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * Asks a provider, and asks again after a passing failure as long as nothing has been shown. Failures are the last
 * frame; an abort throws the signal's reason.
 */
export async function* exchange<Chunk, D extends Decoder<Chunk>>(
  { provider, model, options, namedEvents, decoder: newDecoder, open }: Exchange<Chunk, D>,
  { stream, signal, answerLimits, retry: mayRetry = true, meter }: ModelCallOptions,
): AsyncGenerator<ModelResponse> {
  const retry = options.retry ?? {};
  /** By attempts that failed. */
  let spent: Usage | undefined;
  const tried: NonNullable<ModelResponse['tried']>[number][] = [];
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    const { timeoutMs = DEFAULT_TIMEOUT_MS, fetch } = options;
    const wire = new Wire(signal, { stream, timeoutMs, namedEvents, fetch });
    let shown = false;
    let failure: ModelFailure;
    const counter = new AnswerCounter(answerLimits);
    const decoder = newDecoder(counter);
    if (meter) meter.read = () => priced(withUsage({}, sum(spent, decoder.usage())), model, options.prices).usage;
    try {
      do {
        const answer = await open(wire, decoder);
        if (!stream) own(provider, () => decoder.push(wholeOf(answer as Chunk)));
        else {
          for await (const chunk of answer as AsyncIterable<Chunk>) {
            const parts = partsIn(own(provider, () => decoder.push(chunk)));
            counter.add(parts);
            if (parts.length === 0) {
              if (decoder.isWhole?.()) break;
              continue;
            }
            shown = true;
            for (const part of parts) yield { partial: true, content: { role: 'model', parts: [part] } };
          }
        }
        // Some SDKs take an abort for the end of the stream.
        signal.throwIfAborted();
        // What an SDK has passed over is an error all the same.
        if (wire.failure) throw new Error(wire.failure.message);
      } while (decoder.goesOn?.());
      const whole = own(provider, () => withDistinctIds(decoder.finish({ stream, sentinel: wire.sentinel })));
      yield priced({ ...withUsage(whole, spent), ...(spent ? { tried } : {}) }, model, options.prices);
      return;
    } catch (thrown) {
      signal.throwIfAborted();
      if (isCoxswainError(thrown)) throw thrown;
      failure = wire.failure ?? modelFailureOf(thrown);
      // Nobody was asked: another attempt would fail as this one did.
      if (!wire.isSent && !(thrown instanceof ProviderFailure)) failure = { ...failure, retryable: false };
      const told = decoder.usage();
      if (told) {
        spent = addUsage(spent ?? {}, told);
        tried.push({ model, errorCode: errorFrame(provider, failure, options).errorCode ?? '' });
      }
    } finally {
      wire.close();
    }
    const delay = shown || !mayRetry ? undefined : delayBefore(attempt, failure, wire.headers, retry);
    if (delay === undefined) {
      const asked = (wire.headers && retryAfter(wire.headers, retry.now ?? Date.now)) ?? failure.waitMs;
      const frame = errorFrame(provider, failure, options);
      const told = asked === undefined ? frame : { ...frame, retryAfterMs: asked };
      yield priced(withUsage(told, spent), model, options.prices);
      return;
    }
    await (retry.sleep ?? pause)(delay, signal);
  }
}

/** What our own code makes of an answer: where it throws, the provider has not failed, and would be asked the same again. */
function own<T>(provider: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ProviderFailure || isCoxswainError(thrown)) throw thrown;
    const message = `the adapter of ${provider} failed to read the answer: ${messageOf(thrown)}`;
    throw new ProviderFailure('adapter_error', message, false);
  }
}

/** A proxy's page, say, comes as text: it is no answer, though its status says so. */
function wholeOf<Chunk>(answer: Chunk): Chunk {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer;
  throw new ProviderFailure('bad_response', 'the response is not a JSON object', true);
}

function sum(some: Usage | undefined, more: Usage | undefined): Usage | undefined {
  return some && more ? addUsage(some, more) : (some ?? more);
}

function withUsage(answer: ModelResponse, more: Usage | undefined): ModelResponse {
  return more ? { ...answer, usage: addUsage(more, answer.usage ?? {}) } : answer;
}

/** The answer with what it cost, where that is known. */
function priced(answer: ModelResponse, asked: string, prices: PriceTable = {}): ModelResponse {
  const { usage, model = asked } = answer;
  const name = [model, asked].find((candidate) => Object.hasOwn(prices, candidate));
  const price = name === undefined ? undefined : prices[name];
  if (!usage || !price) return answer;
  return { ...answer, usage: { ...usage, cost: { usd: tokenCost(usage, price) } } };
}

const NONE: readonly ContentPart[] = [];

/** What a chunk shows. */
export function partsIn(delta: ReturnType<Decoder<never>['push']>): readonly ContentPart[] {
  if (delta === undefined) return NONE;
  return isList(delta) ? delta : [delta];
}

function isList(delta: ContentPart | readonly ContentPart[]): delta is readonly ContentPart[] {
  return Array.isArray(delta);
}

function errorFrame(provider: string, failure: ModelFailure, { apiKey, headers = {} }: ModelOptions): ModelResponse {
  const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)];
  return {
    errorCode: redact(failure.code, secrets),
    errorMessage: redact(`${provider}: ${failure.code}: ${failure.message}`, secrets),
    retryable: failure.retryable,
  };
}
