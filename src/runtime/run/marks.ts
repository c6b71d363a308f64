import { LazySet } from '../../base/index.ts';
import type { BeganRecord, CompletedRecord, StoredEvent } from '../log/index.ts';
import { isWithin, threadOf } from '../log/index.ts';

/** What a run has to tell of its tree, until the next event takes it into the log. */
export class Marks {
  #completed: CompletedRecord[] | undefined;
  #began: BeganRecord[] | undefined;
  #entered: string[] | undefined;
  #exited: string[] | undefined;
  /** All that this run has told, by point and path. */
  readonly #told = new LazySet<string>();

  /** Told once. */
  began(record: BeganRecord): void {
    if (this.#isNew(`began:${record.path}:${record.iteration ?? ''}`)) this.#began = [...(this.#began ?? []), record];
  }

  /** Told once: a tree that is entered again comes to it again before any event has taken it. */
  completed(record: CompletedRecord): void {
    if (this.#isNew(`completed:${record.path}`)) this.#completed = [...(this.#completed ?? []), record];
  }

  ran(path: string, point: 'entered' | 'exited'): void {
    if (point === 'entered') this.#entered = [...(this.#entered ?? []), path];
    else this.#exited = [...(this.#exited ?? []), path];
    this.#told.add(`${point}:${path}`);
  }

  has(path: string, point: 'entered' | 'exited' | 'completed'): boolean {
    return this.#told.has(`${point}:${path}`);
  }

  #isNew(name: string): boolean {
    if (this.#told.has(name)) return false;
    this.#told.add(name);
    return true;
  }

  /** Nothing is told any more of what runs in a slot that was ended: its end stands for all of it. */
  forgetWithin(slot: string): void {
    this.#completed = this.#completed?.filter(({ path }) => !isWithin(slot, path));
    this.#began = this.#began?.filter(({ path }) => !isWithin(slot, path));
  }

  /** Hooks have run that no event tells of yet: where none follows, they would run again. */
  get hooksAreUntold(): boolean {
    return (this.#entered?.length ?? 0) > 0 || (this.#exited?.length ?? 0) > 0;
  }

  putOn(event: StoredEvent): void {
    const { actions } = event;
    const thread = threadOf(event) ?? '';
    if (this.#completed?.length)
      actions.completed = [...this.#completed.map((record) => seenFrom(thread, record)), ...(actions.completed ?? [])];
    if (this.#began?.length) actions.began = this.#began.map((record) => seenFrom(thread, record));
    if (this.#entered) actions.entered = [...(actions.entered ?? []), ...this.#entered];
    if (this.#exited) actions.exited = [...(actions.exited ?? []), ...this.#exited];
    this.#completed = undefined;
    this.#began = undefined;
    this.#entered = undefined;
    this.#exited = undefined;
  }
}

/** A thread is told only where it is not that of the event which carries the record: most are. */
function seenFrom<T extends { thread?: string }>(thread: string, record: T): T {
  if (record.thread !== thread) return record;
  const { thread: _, ...rest } = record;
  return rest as T;
}
