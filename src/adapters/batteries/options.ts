import { CoxswainError } from '../../contracts/index.ts';
import type { Registry, SpoolStore, UnsupportedMediaPolicy } from '../../dispatch/index.ts';
import { InMemorySpoolStore, mergeTiers } from '../../dispatch/index.ts';
import { bag, checkIs, guarded } from '../../session/index.ts';

export interface BatteryRetry {
  /** Attempts in all. Default 1. */
  maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt; doubled with each. Default 500. */
  initialDelayMs?: number | undefined;
  /** Milliseconds; also the longest that a server's `Retry-After` is followed. Default 30,000. */
  maxDelayMs?: number | undefined;
  /** HTTP statuses that are worth another attempt. Default 429, 502, 503, 504. */
  statuses?: readonly number[] | undefined;
}

export interface BatteryHelpers {
  fetch?: typeof fetch | undefined;
  /** Waits; rejects with the signal's reason as soon as it fires. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Marks of untrusted text; tests want them known. */
  nonce?: (() => string) | undefined;
}

/** Settings that both batteries have. */
export interface ChatOptions {
  model?: string | undefined;
  /** Default true. */
  stream?: boolean | undefined;
  /**
   * Acknowledge an answer that calls no tool. Default false: a pipeline decides, or the model is asked again, at its
   * price: in an agent until `watchdog.unsignalledRuns` or `limits` end the turn, in a `TurnRunner` until you do.
   */
  autoAck?: boolean | undefined;
  /** Default `throw`. */
  unsupportedMediaPolicy?: UnsupportedMediaPolicy | undefined;
  /** Where tools' text and bytes are kept. Default: in memory, one store for each adapter. */
  spoolStore?: SpoolStore | undefined;
  /** Further members of the request's body: temperature, stop, … */
  params?: Readonly<Record<string, unknown>> | undefined;
  helpers?: BatteryHelpers | undefined;
}

export interface OpenAIChatCompletionsOptions extends ChatOptions {
  /** Absent: none is sent. Never read from the environment. */
  apiKey?: string | undefined;
  /** Default `https://api.openai.com/v1`. */
  baseUrl?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  retry?: BatteryRetry | undefined;
  /** Milliseconds for a whole request. Default: no limit. */
  requestTimeoutMs?: number | undefined;
  /** Milliseconds between two pieces of an answer. Default: no limit. */
  idleTimeoutMs?: number | undefined;
}

/** Key of a turn's stash under which its own settings are found. */
export const OPENAI_STASH_KEY = 'openaiChatCompletions';
export const WEB_LLM_STASH_KEY = 'webLLMChatCompletions';

export type Resolved<T extends ChatOptions> = T & {
  model: string;
  stream: boolean;
  autoAck: boolean;
  spoolStore: SpoolStore;
};

/**
 * The settings of one run: constructor < `executor(overrides)` < the turn's stash.
 * @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS`
 */
export function resolve<T extends ChatOptions>(
  base: T & { spoolStore: SpoolStore },
  overrides: Partial<T>,
  stash: Registry,
  key: string,
): Resolved<T> {
  const perTurn = stash.get<Partial<T>>(key);
  const mergedKeys = ['headers', 'helpers', 'retry'] as unknown as (keyof T)[];
  const merged = mergeTiers<T>(
    mergedKeys,
    { stream: true, autoAck: false } as unknown as Partial<T>,
    base,
    overrides,
    perTurn,
  );
  checkBatteryOptions(merged, true);
  return merged as Resolved<T>;
}

/** Settings as a constructor keeps them. */
export function baseOf<T extends ChatOptions>(options: T): T & { spoolStore: SpoolStore } {
  checkBatteryOptions(options, false);
  return { ...options, spoolStore: options.spoolStore ?? new InMemorySpoolStore() };
}

const modes = ['throw', 'fallback-stash', 'synthetic-description'];

/** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS` naming all that is wrong */
export function checkBatteryOptions(options: object, isWhole: boolean): void {
  checkIs(options, 'the options of the battery', bag);
  const given = options as Record<string, unknown>;
  const faults: string[] = [];
  const expect = (name: string, what: string, fits: (value: unknown) => boolean) => {
    if (given[name] !== undefined && !fits(given[name])) faults.push(`${name}: expected ${what}`);
  };
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  const isFlag = (value: unknown) => typeof value === 'boolean';
  const isTime = (value: unknown) => typeof value === 'number' && value > 0;
  expect('model', 'text', isText);
  if (isWhole && given.model === undefined) faults.push('model: expected text');
  expect('apiKey', 'text', isText);
  expect('baseUrl', 'a URL', (value) => typeof value === 'string' && URL.canParse(value));
  expect('stream', 'true or false', isFlag);
  expect('autoAck', 'true or false', isFlag);
  expect('requestTimeoutMs', 'milliseconds', isTime);
  expect('idleTimeoutMs', 'milliseconds', isTime);
  for (const name of ['headers', 'params', 'helpers', 'retry', 'spoolStore']) {
    expect(name, 'an object', (value) => typeof value === 'object' && value !== null);
  }
  expect('unsupportedMediaPolicy', `one of ${modes.join(', ')}, or {mode, stashKeys}`, isMediaPolicy);
  const attempts = guarded('retry', () => (given.retry as BatteryRetry | null | undefined)?.maxAttempts);
  if (attempts !== undefined && !(Number.isInteger(attempts) && attempts > 0))
    faults.push('retry.maxAttempts: expected 1 or more');
  if (faults.length === 0) return;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS', faults.join('; '), {
    details: { faults },
  });
}

function isMediaPolicy(value: unknown): boolean {
  if (typeof value === 'string') return modes.includes(value);
  return guarded('unsupportedMediaPolicy', () => isFallback(value));
}

function isFallback(value: unknown): boolean {
  const policy = value as { mode?: unknown; stashKeys?: unknown } | null;
  return policy?.mode === 'fallback-stash' && Array.isArray(policy.stashKeys);
}
