import { LazySet } from '../session/index.ts';
import type { BeganRecord, CompletedRecord, Event } from './event.ts';
import { threadOf } from './event.ts';

/** What a run has to tell of its tree, until the next event takes it into the log. */
export class Marks {
  readonly completed: CompletedRecord[] = [];
  readonly #began: BeganRecord[] = [];
  readonly #entered: string[] = [];
  readonly #exited: string[] = [];
  /** All that this run has told, by point and path. */
  readonly #told = new LazySet<string>();

  /** Told once. */
  began(record: BeganRecord): void {
    const name = `began:${record.path}:${record.iteration ?? ''}`;
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#began.push(record);
  }

  ran(path: string, point: 'entered' | 'exited'): void {
    (point === 'entered' ? this.#entered : this.#exited).push(path);
    this.#told.add(`${point}:${path}`);
  }

  has(path: string, point: 'entered' | 'exited'): boolean {
    return this.#told.has(`${point}:${path}`);
  }

  putOn(event: Event): void {
    const { actions } = event;
    const thread = threadOf(event) ?? '';
    if (this.completed.length > 0)
      actions.completed = [
        ...(actions.completed ?? []),
        ...this.completed.splice(0).map((record) => seenFrom(thread, record)),
      ];
    if (this.#began.length > 0) actions.began = this.#began.splice(0).map((record) => seenFrom(thread, record));
    if (this.#entered.length > 0) actions.entered = [...(actions.entered ?? []), ...this.#entered.splice(0)];
    if (this.#exited.length > 0) actions.exited = [...(actions.exited ?? []), ...this.#exited.splice(0)];
  }
}

/** A thread is told only where it is not that of the event which carries the record: most are. */
function seenFrom<T extends { thread?: string }>(thread: string, record: T): T {
  if (record.thread !== thread) return record;
  const { thread: _, ...rest } = record;
  return rest as T;
}
