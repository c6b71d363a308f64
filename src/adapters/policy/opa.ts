import type { PolicyDecision, PolicyEvaluator, PolicyRequest } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import type { Shape } from '../../session/index.ts';
import { amount, checkOptions, flag, required, text, texts } from '../../session/index.ts';
import { decisionOf } from './opa-decision.ts';
import { postJson } from './opa-http.ts';

export interface OpaPolicyOptions {
  /** Base address of the server, `http://127.0.0.1:8181`. No user or password: use `token` or `headers`. */
  url: string;
  /** Rule that decides, below `/v1/data`. Default `coxswain/decision`. */
  path?: string;
  /**
   * Rule that decides on several calls at once: input `{calls: {"0": …, "1": …}}`, result an object with a decision
   * under each key. Given: calls of one moment go in one request. Absent: each goes by itself.
   */
  batchPath?: string;
  /** Calls in one request at most. Default 100. */
  maxBatch?: number;
  /** Milliseconds for an answer; then it is a deny. Default 5000. */
  timeoutMs?: number;
  /** Bytes of an answer; more is a deny. Default 1 MiB. */
  maxBytes?: number;
  /** Sent as `Authorization: Bearer`; never shown. */
  token?: string;
  headers?: Readonly<Record<string, string>>;
  /** Believe the annotations of foreign tools (source `mcp:…`). Default false: they are told as `hints`. */
  trustAnnotations?: boolean;
}

/**
 * A policy on an Open Policy Agent server, asked over its Data API. The input is the request as it is; the result is
 * `true`, `false`, or an object `{outcome, reason?, hint?, ruleId?, approvers?, expiresIn?, redact?}` (snake_case is
 * read too). Whatever else comes — no answer, no result, another status, an unknown member, one that is there twice, a
 * batch as a list or with calls that were not asked about — denies.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for an address that cannot be used
 * @example
 * ```ts
 * import { opaPolicy } from 'coxswain/policy/opa';
 *
 * const policy = opaPolicy({ url: 'http://127.0.0.1:8181', path: 'coxswain/decision' });
 * console.log(policy);
 * ```
 */
export function opaPolicy(options: OpaPolicyOptions): PolicyEvaluator {
  checkOptions<OpaPolicyOptions>(options, 'opaPolicy: options', shape);
  return new Opa(options);
}

const shape: Shape<OpaPolicyOptions> = {
  url: required(text),
  path: text,
  batchPath: text,
  maxBatch: amount,
  timeoutMs: amount,
  maxBytes: amount,
  token: text,
  headers: texts,
  trustAnnotations: flag,
};

interface Waiting {
  input: unknown;
  settle(decision: PolicyDecision): void;
}

class Opa implements PolicyEvaluator {
  readonly #options: OpaPolicyOptions;
  readonly #single: URL;
  readonly #batch: URL | undefined;
  #waiting: Waiting[] = [];

  constructor(options: OpaPolicyOptions) {
    this.#options = options;
    const { path = 'coxswain/decision', batchPath } = options;
    this.#single = addressOf(options.url, path);
    this.#batch = batchPath === undefined ? undefined : addressOf(options.url, batchPath);
  }

  evaluate(request: PolicyRequest, signal?: AbortSignal): Promise<PolicyDecision> {
    const input = inputOf(request, this.#options.trustAnnotations ?? false);
    if (this.#batch) return new Promise((settle) => this.#enqueue({ input, settle }));
    return this.#ask(this.#single, input, signal).then(decisionOf).catch(failed);
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#waiting.length >= (this.#options.maxBatch ?? 100)) this.#flush();
    // Parallel calls are judged one after the other, with promises in between.
    else if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    if (calls.length > 0) void this.#askMany(calls);
  }

  async #askMany(calls: readonly Waiting[]): Promise<void> {
    let results: Record<string, unknown>;
    try {
      const inputs = Object.fromEntries(calls.map(({ input }, index) => [String(index), input]));
      results = batchOf(await this.#ask(this.#batch ?? this.#single, { calls: inputs }), inputs);
    } catch (error) {
      for (const { settle } of calls) settle(failed(error));
      return;
    }
    for (const [index, { settle }] of calls.entries()) {
      try {
        const key = String(index);
        settle(decisionOf(Object.hasOwn(results, key) ? results[key] : undefined));
      } catch (error) {
        settle(failed(error));
      }
    }
  }

  async #ask<T>(address: URL, input: unknown, signal?: AbortSignal): Promise<T> {
    const { token, headers = {}, timeoutMs = 5000, maxBytes = 1024 * 1024 } = this.#options;
    const answer = await postJson(
      address,
      { input },
      {
        headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
        timeoutMs: Math.min(timeoutMs, MAX_TIMER_MS),
        maxBytes,
        signal,
      },
    );
    if (typeof answer !== 'object' || answer === null) throw new Error('the answer is no object');
    return (answer as { result?: unknown }).result as T;
  }
}

/**
 * Which decision is about which call is told by the keys alone.
 * @throws Error for what may be meant for other calls than these
 */
function batchOf(results: unknown, inputs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (Array.isArray(results))
    throw new Error('the batch rule gave a list; its result is an object with the keys of the calls');
  if (typeof results !== 'object' || results === null) throw new Error('the batch rule gave no object');
  const stray = Object.keys(results).find((key) => !Object.hasOwn(inputs, key));
  if (stray !== undefined)
    throw new Error(`the batch rule decided on a call that was not asked about: ${JSON.stringify(stray)}`);
  return results as Record<string, unknown>;
}

function inputOf(request: PolicyRequest, trusts: boolean): unknown {
  const resource = request.context?.resource;
  if (trusts || !resource?.source?.startsWith('mcp:') || resource.annotations === undefined) return request;
  // Whoever wrote the policy reads `annotations` as facts.
  const { annotations: hints, ...rest } = resource;
  return { ...request, context: { ...request.context, resource: { ...rest, annotations: {}, hints } } };
}

function addressOf(base: string, path: string): URL {
  const wrong = (reason: string) =>
    new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `opaPolicy: ${reason}; give url as http://host:port`);
  if (!URL.canParse(base)) throw wrong('url is no address');
  const url = new URL(base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong(`${url.protocol} is not spoken`);
  if (url.username !== '' || url.password !== '') throw wrong('url holds credentials (use token or headers)');
  const steps = path.split('/').filter((step) => step !== '');
  if (steps.length === 0 || steps.some((step) => step === '..' || step === '.')) throw wrong('path names no rule');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/data/${steps.map(encodeURIComponent).join('/')}`;
  url.search = '';
  url.hash = '';
  return url;
}

function failed(error: unknown): PolicyDecision {
  return { outcome: 'deny', reason: `The policy server gave no decision: ${messageOf(error)}`, redact: [''] };
}
