import { LazyMap } from '../../base/index.ts';
import type { ContentPart } from '../../contracts/index.ts';
import { setOwn, textOfParts } from '../../contracts/index.ts';
import { LastWords } from '../../session/index.ts';
import type { Activation } from './activation.ts';
import { newActivation } from './activation.ts';
import type { CallState } from './call-state.ts';
import type { StoredEvent } from './event.ts';
import { threadOf } from './event.ts';
import { isWithin, slotOfCall } from './slot-path.ts';

/** Where the agents of the newest turn stand in their tree, and what agents run as tools keep. A part of the `Fold`. */
export class FoldedPlaces {
  readonly activations = new LazyMap<string, Activation>();
  /** Uncommitted state of agents run as tools, by their path. */
  readonly isolated = new LazyMap<string, Record<string, unknown>>();
  /** Last words of agents run as tools, by their path. */
  readonly isolatedText = new LazyMap<string, LastWords>();

  activation(path: string): Activation {
    let activation = this.activations.get(path);
    if (!activation) {
      activation = newActivation();
      this.activations.set(path, activation);
    }
    return activation;
  }

  /** What has begun and ended in the tree. */
  apply(event: StoredEvent): void {
    const { completed = none, began = none, entered = none, exited = none } = event.actions;
    for (const record of completed) {
      this.activation(record.path).completed = { agent: record.agent, outcome: record.outcome };
    }
    for (const { path, iteration, agent, thread = threadOf(event) ?? '' } of began) {
      if (iteration === undefined) this.activation(path).began = { agent, thread };
      else this.activation(path).iteration = iteration;
    }
    for (const path of entered) this.activation(path).entered = true;
    for (const path of exited) this.activation(path).exited = true;
  }

  /** A delta of an agent run as a tool: nulls are kept, they will delete in its caller when it is merged. */
  keepState(iso: string, delta: Readonly<Record<string, unknown>>): void {
    if (Object.keys(delta).length === 0) return;
    const own = this.isolated.get(iso) ?? {};
    for (const key of Object.keys(delta)) setOwn(own, key, delta[key]);
    this.isolated.set(iso, own);
  }

  /** Words of an agent run as a tool. */
  speak({ iso, thread = iso ?? '', path }: StoredEvent, parts: readonly ContentPart[]): void {
    if (iso === undefined) return;
    const words = this.isolatedText.get(iso) ?? new LastWords();
    this.isolatedText.set(iso, words);
    words.say(thread, textOfParts(parts), path);
  }

  /** The turn goes on after its limits were reached: steps are counted from here. */
  rebase(): void {
    for (const activation of this.activations.values()) activation.base = activation.steps;
  }

  /** Places are of one turn; but an agent that an open call runs goes on where it stands. */
  forget(open: ReadonlyMap<string, CallState>): void {
    if (open.size === 0) {
      this.clear();
      return;
    }
    const kept = [...open.values()].filter(({ entered }) => entered).map(slotOfCall);
    for (const map of [this.activations, this.isolated, this.isolatedText]) {
      if (kept.length === 0) map.clear();
      else for (const path of [...map.keys()]) if (!kept.some((slot) => isWithin(slot, path))) map.delete(path);
    }
  }

  clear(): void {
    this.activations.clear();
    this.isolated.clear();
    this.isolatedText.clear();
  }
}

const none: readonly never[] = [];
