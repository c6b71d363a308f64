import { isDeepStrictEqual } from 'node:util';
import type { AgentEvent, GrammarChecker } from '../../../src/contracts/index.ts';
import { createGrammarChecker } from '../../../src/contracts/index.ts';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import type { World } from './world.ts';
import { openRequests } from './world.ts';

/** What one stream showed. */
export interface Shown {
  streamId: string;
  durable: AgentEvent[];
  /** Read to its end. */
  whole: boolean;
  life: number;
}

/** Looks at each event of one stream. */
export class Watcher {
  readonly shown: Shown;
  readonly #world: World;
  readonly #initialized: boolean | undefined;
  readonly #held: AgentEvent[] = [];
  /** Length of the log when the stream was asked for. */
  readonly #from: number;
  /** That of all logs. */
  readonly #all: number;
  #checker: GrammarChecker | undefined;
  #end: AgentEvent | undefined;

  /** `initialized` undefined: nobody knows whether somebody else has used the handle. */
  constructor(world: World, streamId: string, initialized: boolean | undefined) {
    this.#world = world;
    this.#initialized = initialized;
    this.#from = world.log.filter((event) => !world.below.has(event)).length;
    this.#all = world.log.length;
    this.shown = { streamId, durable: [], whole: false, life: world.life };
  }

  get end(): AgentEvent | undefined {
    return this.#end;
  }

  see(event: AgentEvent): void {
    this.#world.note(() => `shows ${brief(event)}`);
    if (event.type === 'stream_end') this.#end = event;
    if (event.type === 'elicitation_request' && event.seq === undefined) this.#world.questions.add(event.requestId);
    if ('requestId' in event && typeof event.requestId === 'string') this.#world.seenIds.push(event.requestId);
    if (event.seq !== undefined) this.shown.durable.push(event);
    if (event.type === 'error' && event.fatal && event.seq === undefined) {
      this.#world.fault(`a stream is lost: ${event.code} ${event.message}`);
    }
    if (event.streamId !== this.shown.streamId && event.streamId !== '') {
      this.#world.fault(`${event.type} of stream ${event.streamId} is shown in ${this.shown.streamId}`);
    }
    if (this.#checker) {
      this.#report(this.#checker.push(event));
      return;
    }
    this.#held.push(event);
    if (event.seq !== undefined) this.#start(event.seq);
  }

  /** The stream was read to its end. */
  finish(): void {
    this.shown.whole = true;
    if (!this.#checker) this.#start(this.#from + 1);
    this.#report(this.#checker?.end() ?? []);
  }

  /** Before its first durable event a stream shows nothing that depends on what is open. */
  #start(seq: number): void {
    const [first] = this.#held;
    this.#checker = createGrammarChecker({
      openRequests: openRequests(this.#before(seq), this.#world.questions),
      initialized: this.#initialized ?? first?.type !== 'initialize',
      immutability: this.#world.chance(0.1),
    });
    for (const event of this.#held.splice(0)) this.#report(this.#checker.push(event));
  }

  /** What had been stored before an event of the session's own; of sub-agents, before the stream was asked for. */
  #before(seq: number): StoredEvent[] {
    const { log, below } = this.#world;
    return log.filter((event, at) => (below.has(event) ? at < this.#all : event.seq < seq));
  }

  #report(violations: ReturnType<GrammarChecker['end']>): void {
    for (const { rule, message } of violations) this.#world.fault(`grammar ${rule}: ${message}`);
  }
}

function brief(event: AgentEvent): string {
  const { type, seq, threadId } = event;
  const more = event as unknown as Record<string, unknown>;
  const facts = [more.requestId, more.name, more.reason, more.errorType, more.status, more.code, more.message];
  const words = event.type === 'message' ? JSON.stringify(event.content).slice(0, 80) : '';
  const pending =
    event.type === 'stream_end' ? JSON.stringify(event.data.pending?.map(({ requestId }) => requestId)) : '';
  return [seq ?? '-', threadId, type, ...facts, more.partial ? 'partial' : '', words, pending]
    .filter(Boolean)
    .join(' ');
}

/** Every stream showed what the log has of it: in order, each once, the same then as now. */
export function streamFaults(streams: readonly Shown[], events: readonly AgentEvent[]): string[] {
  const faults: string[] = [];
  const byStream = Map.groupBy(events, (event) => event.streamId);
  for (const { streamId, durable, whole, life } of streams) {
    // Somebody else's answers are of no stream.
    const shown = durable.filter((event) => event.streamId === streamId);
    const stored = byStream.get(streamId) ?? [];
    const at = shown.findIndex((event, index) => !same(event, stored[index]));
    if (at >= 0) {
      faults.push(
        `stream ${life}/${streamId.slice(0, 8)} shows ${name(shown[at])} where the log has ${name(stored[at])}`,
      );
    } else if (whole && stored.length > shown.length) {
      faults.push(`stream ${life}/${streamId.slice(0, 8)} does not show ${name(stored[shown.length])}`);
    }
  }
  return faults;
}

function same(shown: AgentEvent, stored: AgentEvent | undefined): boolean {
  if (!stored) return false;
  if (shown.type !== 'stream_end' || stored.type !== 'stream_end') return isDeepStrictEqual(shown, stored);
  return shown.id === stored.id && shown.reason === stored.reason && shown.seq === stored.seq;
}

function name(event: AgentEvent | undefined): string {
  return event ? `${event.type} ${event.id} (seq ${event.seq})` : 'nothing';
}
