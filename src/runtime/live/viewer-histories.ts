import { LazyMap, MANY, Pace } from '../../base/index.ts';
import type { Viewer } from '../history/index.ts';
import { History } from '../history/index.ts';
import type { SessionLog } from './session-log.ts';

/** What the agents of a session are shown of its log: a history for each, kept and extended. */
export class ViewerHistories {
  readonly #log: SessionLog;
  readonly #made = new LazyMap<string, History>();

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** The log is another one behind what stands here: a rewind, or older events that were read. */
  clear(): void {
    this.#made.clear();
  }

  /** A new turn: of agents run as tools, and of single turns, nothing is needed any more. */
  forgetTurn(): void {
    for (const key of this.#made.keys()) if (!key.endsWith('||')) this.#made.delete(key);
  }

  /** Later where much of the log is to be gone through. */
  history(viewer: Viewer): History | Promise<History> {
    const history = this.#of(viewer);
    if (history.lacks(this.#log.events) > MANY) return this.#inPieces(viewer);
    history.extend(this.#log.events, (id) => this.#log.steer(id));
    return history;
  }

  /** Of a long log: others of the process are let in on the way. */
  async #inPieces(viewer: Viewer): Promise<History> {
    const pace = new Pace();
    for (;;) {
      // Looked up each time: a rewind that came meanwhile has thrown away what was made so far.
      const history = this.#of(viewer);
      history.extend(this.#log.events, (id) => this.#log.steer(id), MANY);
      if (history.lacks(this.#log.events) === 0) return history;
      const rest = pace.rest();
      if (rest) await rest;
    }
  }

  #of(viewer: Viewer): History {
    const key = `${viewer.agent}|${viewer.branch ?? ''}|${viewer.iso}|${viewer.from ?? ''}`;
    let history = this.#made.get(key);
    if (!history) {
      history = new History(viewer);
      this.#made.set(key, history);
    }
    return history;
  }
}
