import { snapshot } from '../records/index.ts';
import type { GenerationStats } from './generation-stats.ts';

/** A message or thought as far as it has come. Times are epoch milliseconds. */
export interface StreamedContent {
  id: string;
  /** All of it so far. */
  full: string;
  /** What this report added. */
  aDelta: string;
  isComplete: boolean;
  createdAt: number;
  updatedAt: number;
  completedAt?: number;
}

/** What is known of a tool call that an executor reports. */
export interface StreamedToolCall {
  id: string;
  tool?: string;
  args?: unknown;
  /** Once tool and args are known; equal to `callId` of the tool execution events and `ToolCall.checksum`. */
  checksum?: string;
  results?: unknown;
  isError: boolean;
  isComplete: boolean;
  createdAt: number;
  updatedAt: number;
  completedAt?: number;
}

/** What a user interface needs while a turn runs. */
export interface FunctionalEvents {
  message: StreamedContent;
  thought: StreamedContent;
  toolCall: StreamedToolCall;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface LogEntry {
  /** Says for programs what happened. */
  kind: string;
  message: string;
  payload?: Record<string, unknown>;
}

export type DispatchStatus = 'ack' | 'nack' | 'aborted';

interface InDispatch {
  turnId: string;
  dispatchId: string;
}

/** Something that came after the end had been decided; it changed nothing. */
export interface Violation extends InDispatch {
  iteration: number;
  kind: 'signal' | 'throw' | 'report' | 'store' | 'tool';
  message: string;
  at: number;
}

/** What an operator needs; none of it influences the turn. */
export interface ObservabilityEvents {
  turnStart: { turnId: string; startedAt: number };
  turnEnd: { turnId: string; startedAt: number; endedAt: number; durationMs: number; status: DispatchStatus };
  dispatchStart: InDispatch & { startedAt: number };
  dispatchEnd: InDispatch & { endedAt: number; status: DispatchStatus; iterations: number };
  iterationStart: InDispatch & { iteration: number; startedAt: number };
  iterationEnd: InDispatch & {
    iteration: number;
    endedAt: number;
    signal?: 'ack' | 'nack';
    /** Something was stored, reported or run. False and no signal: the executor turns in circles. */
    progress: boolean;
  };
  toolExecutionStart: { turnId: string; callId: string; toolName: string; args: unknown; startedAt: number };
  toolExecutionEnd: {
    turnId: string;
    callId: string;
    toolName: string;
    startedAt: number;
    endedAt: number;
    durationMs: number;
    isError: boolean;
  };
  log: LogEntry & InDispatch & { level: LogLevel; iteration: number; at: number };
  generationStats: GenerationStats & InDispatch & { iteration: number; at: number };
  violation: Violation;
  error: Error;
}

type Listener<T> = (event: T) => unknown;

/** Listeners are sinks: what they return or throw changes nothing. */
class Bus<Events extends object> {
  readonly #listeners = new Map<keyof Events, Map<Listener<never>, boolean>>();

  add<K extends keyof Events>(name: K, listener: Listener<Events[K]>, once: boolean): void {
    const listeners = this.#listeners.get(name) ?? new Map<Listener<never>, boolean>();
    listeners.set(listener as Listener<never>, once);
    this.#listeners.set(name, listeners);
  }

  remove<K extends keyof Events>(name: K, listener: Listener<Events[K]>): void {
    this.#listeners.get(name)?.delete(listener as Listener<never>);
  }

  emit<K extends keyof Events>(name: K, event: Events[K]): void {
    const listeners = this.#listeners.get(name);
    if (!listeners || listeners.size === 0) return;
    const shown = snapshot(event);
    for (const [listener, once] of [...listeners]) {
      if (once) listeners.delete(listener);
      try {
        const returned: unknown = (listener as Listener<Events[K]>)(shown);
        if (returned instanceof Promise) returned.catch(() => {});
      } catch {
        // A sink that fails is its owner's concern: nobody here can act on it.
      }
    }
  }
}

/** The two buses of a runner: `on` for what is shown, `observe` for what is watched. Events are frozen copies. */
export class DispatchBuses {
  readonly #functional = new Bus<FunctionalEvents>();
  readonly #observability = new Bus<ObservabilityEvents>();

  on<K extends keyof FunctionalEvents>(name: K, listener: Listener<FunctionalEvents[K]>): this {
    this.#functional.add(name, listener, false);
    return this;
  }

  once<K extends keyof FunctionalEvents>(name: K, listener: Listener<FunctionalEvents[K]>): this {
    this.#functional.add(name, listener, true);
    return this;
  }

  off<K extends keyof FunctionalEvents>(name: K, listener: Listener<FunctionalEvents[K]>): this {
    this.#functional.remove(name, listener);
    return this;
  }

  observe<K extends keyof ObservabilityEvents>(name: K, listener: Listener<ObservabilityEvents[K]>): this {
    this.#observability.add(name, listener, false);
    return this;
  }

  observeOnce<K extends keyof ObservabilityEvents>(name: K, listener: Listener<ObservabilityEvents[K]>): this {
    this.#observability.add(name, listener, true);
    return this;
  }

  unobserve<K extends keyof ObservabilityEvents>(name: K, listener: Listener<ObservabilityEvents[K]>): this {
    this.#observability.remove(name, listener);
    return this;
  }

  /** For whoever drives the turn. */
  show<K extends keyof FunctionalEvents>(name: K, event: FunctionalEvents[K]): void {
    this.#functional.emit(name, event);
  }

  /** For whoever drives the turn. */
  tell<K extends keyof ObservabilityEvents>(name: K, event: ObservabilityEvents[K]): void {
    this.#observability.emit(name, event);
  }
}
