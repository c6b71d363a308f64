import { hash } from 'node:crypto';
import { digestOf } from './digest.ts';
import type { ChainLink, StoredEvent } from './event.ts';

/** Whether an event is part of what became of a call: calls, decisions, answers, starts, outcomes, and rewinds. */
export function isAudited({ content, actions }: StoredEvent): boolean {
  const { decisions, started, asks, answers, interim, rewound } = actions;
  if (decisions ?? started ?? asks ?? answers ?? interim ?? rewound) return true;
  for (const { type } of content?.parts ?? [])
    if (type === 'function_call' || type === 'function_response') return true;
  return false;
}

/** What is no part of what became of a call, and decides on it: the terms of turns, and what a question was put with. */
const GROUNDS = ['terms', 'questions'] as const satisfies (keyof StoredEvent['actions'])[];

const groundsIn = ({ actions }: StoredEvent) => GROUNDS.filter((name) => actions[name] !== undefined);

/** Whether an event gets a link: evidence, and the grounds on which decisions rest. */
export function isLinked(event: StoredEvent): boolean {
  return isAudited(event) || GROUNDS.some((name) => event.actions[name] !== undefined);
}

/**
 * The events of a log that are evidence, in order. What has a link was evidence when it was written, whatever it says now.
 * Grounds had none in older versions: without one they count only behind others of their kind that have one.
 */
export function evidenceOf(events: readonly StoredEvent[]): StoredEvent[] {
  const linked = new Set<string>();
  return events.filter((event) => {
    const { chain } = event;
    if (chain === undefined && isAudited(event)) return true;
    const grounds = groundsIn(event);
    if (chain === undefined) return grounds.some((name) => linked.has(name));
    for (const name of grounds) linked.add(name);
    return true;
  });
}

/** The chain up to an event, from the chain before it. */
export function extendChain(before: string, digest: string): string {
  return hash('sha256', `${before}\n${digest}`, 'base64url');
}

/** What a chain has come to. */
export interface ChainState {
  /** Id of the newest event that is evidence; '' for none. */
  readonly last: string;
  /** Binds all evidence up to that. */
  readonly hash: string;
  readonly whole: boolean;
}

/**
 * The audit chain of one log, as far as it is known here. An event's link names the audited event that its writer
 * saw last and binds the event to all that came before that one. Writers without a lease may write side by side:
 * what one of them has not seen is bound by the next link of whoever has.
 */
export class Chain {
  static readonly none: ChainState = Object.freeze({ last: '', hash: '', whole: true });
  #last: string;
  /** Of the log up to the newest event that is linked to its neighbour. */
  #hash: string;
  /** What came after that one: bound by the next link. */
  #loose: StoredEvent[] = [];
  /** The newest link binds all that came before it. */
  #whole: boolean;

  constructor({ last, hash, whole }: ChainState = Chain.none) {
    this.#last = last;
    this.#hash = hash;
    this.#whole = whole;
  }

  /** What another chain of this log goes on from. What is loose is bound to what came before it, as its next link would do. */
  get state(): ChainState {
    return { last: this.#last, hash: this.#bound(), whole: this.#whole };
  }

  /** A stored event, in order. */
  see(event: StoredEvent): void {
    const { chain } = event;
    if (!chain && !isAudited(event)) return;
    // Within a batch the writer's own view goes on, which may have missed what came before the batch.
    this.#whole = chain?.after === this.#last && (!chain.batch || this.#whole);
    if (chain && this.#whole) {
      this.#hash = chain.hash;
      this.#loose = [];
    } else this.#loose.push(event);
    this.#last = event.id;
  }

  /** Events that are about to be stored, with their links; `digests` of those that are known already. */
  link(events: readonly StoredEvent[], digests?: ReadonlyMap<StoredEvent, string>): readonly StoredEvent[] {
    if (!events.some(isLinked)) return events;
    let before = this.#bound();
    let after = this.#last;
    let batch = false;
    return events.map((event) => {
      if (event.partial || !isLinked(event)) return event;
      before = extendChain(before, digests?.get(event) ?? digestOf(event));
      const chain: ChainLink = { after, hash: before, ...(batch ? { batch } : {}) };
      after = event.id;
      batch = true;
      return Object.assign(Object.isFrozen(event) ? { ...event } : event, { chain });
    });
  }

  #bound(): string {
    for (const event of this.#loose) this.#hash = extendChain(this.#hash, digestOf(event));
    this.#loose = [];
    return this.#hash;
  }
}
