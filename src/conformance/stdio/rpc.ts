import type { Readable, Writable } from 'node:stream';
import type { StatusCode } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { linesOf } from './json-lines.ts';

interface Waiting {
  method: string;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

interface Frame {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: { status?: string; code?: string; retryable?: boolean } };
}

/** Milliseconds in which the exit of a process follows the end of its output. */
const EXIT_FOLLOWS_MS = 1_000;

/** The host's side of JSON-RPC 2.0, one message a line. */
export class RpcClient {
  readonly #output: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #notified: (method: string, params: unknown) => void;
  readonly #lost: (reason: CoxswainError) => void;
  readonly #room: () => Promise<unknown> | undefined;
  #nextId = 1;
  /** Wakes the reader that has stopped for a slow host. */
  #wake: (() => void) | undefined;
  #draining = false;
  #failure: CoxswainError | undefined;

  constructor(
    input: Readable,
    output: Writable,
    on: {
      notified: (method: string, params: unknown) => void;
      lost: (reason: CoxswainError) => void;
      /** What is waited for before more is read; undefined: there is room. */
      room: () => Promise<unknown> | undefined;
    },
  ) {
    this.#output = output;
    this.#notified = on.notified;
    this.#lost = on.lost;
    this.#room = on.room;
    output.on('error', (error) => this.fail(executorLost(messageOf(error))));
    void this.#read(input);
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** @throws CoxswainError what the executor answers, or `UNAVAILABLE / E_EXECUTOR_LOST` */
  call(method: string, params: Record<string, unknown>): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
      this.#wake?.();
      this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  /** Reads to the end, whoever is slow: a process that cannot write does not end. */
  drain(): void {
    this.#draining = true;
    this.#wake?.();
  }

  /** Nothing more comes: whoever waits is told why. */
  fail(reason: CoxswainError): void {
    if (this.#failure) return;
    this.#failure = reason;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(reason);
    this.#lost(reason);
  }

  async #read(input: Readable): Promise<void> {
    try {
      for await (const line of linesOf(input)) {
        this.#take(line);
        while (this.#isAhead()) await this.#pause();
      }
      // Its exit code and last words say more, and come a moment later.
      setTimeout(() => this.fail(executorLost('its output ended')), EXIT_FOLLOWS_MS).unref();
    } catch (error) {
      this.fail(error instanceof CoxswainError ? error : broken(messageOf(error)));
    }
  }

  /** Not while anybody waits for an answer: it comes behind the events. */
  #isAhead(): boolean {
    return !this.#draining && this.#waiting.size === 0 && this.#room() !== undefined;
  }

  /** Not to be read is all the flow control that a pipe has. */
  async #pause(): Promise<void> {
    const called = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([this.#room(), called]);
    this.#wake = undefined;
  }

  #take(line: string): void {
    let frame: Frame | null;
    try {
      frame = JSON.parse(line) as Frame | null;
    } catch {
      throw broken(`it wrote a line that is not JSON: ${line.slice(0, 80)}`);
    }
    if (typeof frame !== 'object' || frame === null) throw broken(`it wrote ${line.slice(0, 80)}`);
    if (typeof frame.method === 'string') {
      this.#notified(frame.method, frame.params);
      return;
    }
    const waiting = typeof frame.id === 'number' ? this.#waiting.get(frame.id) : undefined;
    if (!waiting) throw broken(`it answered a request that was not made: ${line.slice(0, 80)}`);
    this.#waiting.delete(frame.id as number);
    if (frame.error) waiting.reject(asError(waiting.method, frame.error));
    else waiting.resolve(frame.result);
  }
}

function asError(method: string, { code, message, data }: NonNullable<Frame['error']>): Error {
  const text = typeof message === 'string' ? message : `${method} failed`;
  if (typeof data?.code === 'string' && typeof data.status === 'string') {
    const options = { retryable: data.retryable === true };
    return new CoxswainError(data.status as StatusCode, data.code as `E_${string}`, text, options);
  }
  // -32601: JSON-RPC 2.0, section 5.1.
  if (code === -32601) return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', text);
  return new Error(`the executor answered ${method} with an error without data.status and data.code: ${text}`);
}

export function executorLost(why: string): CoxswainError {
  return new CoxswainError('UNAVAILABLE', 'E_EXECUTOR_LOST', `the executor is gone: ${why}`);
}

export function broken(why: string): CoxswainError {
  return new CoxswainError('INTERNAL', 'E_EXECUTOR_PROTOCOL', `the executor breaks the protocol: ${why}`);
}
