import type { ContentPart, FunctionCallPart, FunctionResponsePart } from '../../../src/contracts/index.ts';
import type { StoredAnswer, StoredEvent } from '../../../src/runtime/index.ts';
import type { Random } from '../replay/random.ts';
import { below } from '../replay/random.ts';

/** One start of a handler. */
export interface Run {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /** May run again with the same call id. */
  repeatable: boolean;
  /** It did what it is for; a handler that only asks does not. */
  effect: boolean;
  /** Length of the log when it started. */
  at: number;
}

/** What outlives every process: the log, what tools did, and what was seen that should not have been. */
export class World {
  readonly random: Random;
  /** Of all sessions, in the order in which they were stored. */
  readonly log: StoredEvent[] = [];
  /** Those of sub-agents. */
  readonly below = new WeakSet<StoredEvent>();
  readonly runs: Run[] = [];
  readonly faults: string[] = [];
  readonly gates: Gate[] = [];
  /** Ids of the host's own questions that anybody has been shown. */
  readonly questions = new Set<string>();
  /** Every id that was ever asked about, to be answered again. */
  readonly seenIds: string[] = [];
  /** Length of the log when a handler asked for a confirmation. */
  readonly confirmationsAsked = new Map<string, number>();
  readonly trace: string[] = [];
  readonly tracing: boolean;
  life = 0;
  /** The host's hooks hear of each call. */
  hooks = false;
  #names = 0;

  constructor(random: Random, tracing: boolean) {
    this.random = random;
    this.tracing = tracing;
  }

  note(line: () => string): void {
    if (this.tracing) this.trace.push(line());
  }

  fault(message: string): void {
    this.note(() => `FAULT ${message}`);
    this.faults.push(message);
  }

  name(): string {
    return `k${this.#names++}`;
  }

  chance(likelihood: number): boolean {
    return this.random() < likelihood;
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[below(this.random, list.length)];
  }

  /** A promise that somebody opens at some time. */
  gate(): Promise<void> {
    const gate = Promise.withResolvers<void>();
    this.gates.push(gate);
    return gate.promise;
  }

  openGate(): void {
    const [gate] = this.gates.splice(below(this.random, this.gates.length), 1);
    gate?.resolve();
  }

  openGates(): void {
    for (const gate of this.gates.splice(0)) gate.resolve();
  }
}

interface Gate {
  promise: Promise<void>;
  resolve: () => void;
}

/** One call as the log has it. */
export interface Call {
  part: FunctionCallPart;
  response?: FunctionResponsePart;
  /** Number of responses. */
  answered: number;
  /** Places in the log. */
  decisions: { at: number; outcome: string; by: string; args: Record<string, unknown> | undefined }[];
  started: number[];
  asks: { at: number; requestId: string; kind: string }[];
  answers: { at: number; requestId: string; answer: StoredAnswer }[];
}

/** What a log says of its calls. */
export class Ledger {
  readonly calls = new Map<string, Call>();
  readonly faults: string[] = [];

  constructor(log: readonly StoredEvent[]) {
    for (const [at, event] of log.entries()) this.#read(at, event);
  }

  get open(): string[] {
    return [...this.calls].filter(([, call]) => call.answered === 0).map(([id]) => id);
  }

  callOf(requestId: string): Call | undefined {
    return this.calls.get(requestId.split('#')[0] ?? '');
  }

  #read(at: number, { content, actions }: StoredEvent): void {
    for (const part of content?.parts ?? []) this.#part(part);
    for (const [id, { outcome, by, args }] of Object.entries(actions.decisions ?? {})) {
      this.calls.get(id)?.decisions.push({ at, outcome, by, args });
    }
    for (const id of actions.started ?? []) this.calls.get(id)?.started.push(at);
    for (const { requestId, callId, kind } of actions.asks ?? []) {
      const call = this.calls.get(callId);
      if (call?.asks.some((ask) => ask.requestId === requestId)) this.faults.push(`${requestId} was asked twice`);
      call?.asks.push({ at, requestId, kind });
    }
    for (const [requestId, answer] of Object.entries(actions.answers ?? {})) {
      const call = this.callOf(requestId);
      if (call?.answers.some((known) => known.requestId === requestId && !known.answer.quorum)) {
        this.faults.push(`${requestId} has several answers`);
      }
      call?.answers.push({ at, requestId, answer });
    }
  }

  #part(part: ContentPart): void {
    if (part.type === 'function_call') {
      if (this.calls.has(part.id)) this.faults.push(`call ${part.id} was made twice`);
      this.calls.set(part.id, { part, answered: 0, decisions: [], started: [], asks: [], answers: [] });
    } else if (part.type === 'function_response') {
      const call = this.calls.get(part.id);
      if (!call) this.faults.push(`a response to call ${part.id}, which was never made`);
      else if (++call.answered > 1) this.faults.push(`${part.name} ${String(call.part.args.k)} has two responses`);
      else call.response = part;
    }
  }
}

/** What one may find open in a log: for the checker of the next stream. */
export function openRequests(log: readonly StoredEvent[], questions: ReadonlySet<string>): string[] {
  const { calls } = new Ledger(log);
  const open: string[] = [];
  for (const [id, call] of calls) {
    if (call.answered > 0) continue;
    open.push(id);
    const answered = new Set(call.answers.filter(({ answer }) => !answer.quorum).map(({ requestId }) => requestId));
    for (const { requestId } of call.asks) if (!answered.has(requestId)) open.push(requestId);
    for (const question of questions) {
      if (question.startsWith(`${id}#`) && !answered.has(question) && !open.includes(question)) open.push(question);
    }
  }
  return open;
}
