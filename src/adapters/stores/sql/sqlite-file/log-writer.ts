import { Worker } from 'node:worker_threads';
import type { LongWrite } from '../statements/index.ts';

/** Pages of its log after which SQLite takes them into the file, and waits for the disk as it does. */
const USUAL = 1000;
/** Transactions of some hundred of its pages each, after which that is done here. */
const EVERY = 8;

// Only takes the log into the file, and never waits for a writer.
const work = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData);
database.exec('PRAGMA busy_timeout = 0');
const take = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
parentPort.on('message', (last) => {
  if (!last) take.all();
  parentPort.postMessage('done');
  if (!last) return;
  database.close();
  parentPort.close();
});`;

/** What a connection needs of its database here. */
interface Log {
  readonly path: string;
  setCheckpoint(pages: number): void;
}

/**
 * Takes the log of a file into the file on another thread, while somebody writes so much that this thread would wait
 * for the disk every few milliseconds. Where there is no other thread to be had, SQLite does it as always.
 */
export class LogWriter {
  readonly #log: Log;
  #worker: Worker | undefined;
  /** Those that were asked to end, and have the file open until they have. */
  readonly #leaving = new Set<Worker>();
  #users = 0;
  /** Transactions since the log was taken in. */
  #written = 0;
  #underway: Promise<void> | undefined;
  /** Called when the worker has done what it was asked, or has ended. */
  #done: (() => void) | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  use(): LongWrite {
    this.#users += 1;
    if (this.#users === 1) this.#begin();
    let ended = false;
    return {
      turn: () => {
        this.#written += 1;
        // All wait for it: a log that somebody writes to meanwhile cannot begin anew, and grows.
        return this.#underway ?? (this.#written <= EVERY ? undefined : this.#take());
      },
      flush: async () => {
        await this.#underway;
        await this.#take();
      },
      end: () => {
        if (ended) return;
        ended = true;
        this.#users -= 1;
        if (this.#users === 0) this.#end();
      },
    };
  }

  /** Resolves when no thread has the file open any more; undefined: none has. */
  left(): Promise<void> | undefined {
    if (this.#leaving.size === 0) return undefined;
    const exits = [...this.#leaving].map((worker) => {
      // Nothing else may keep the process while somebody waits for this.
      worker.ref();
      return new Promise((resolve) => worker.once('exit', resolve));
    });
    return Promise.all(exits).then(() => {});
  }

  #begin(): void {
    const worker = started(this.#log.path);
    if (!worker) return;
    this.#worker = worker;
    worker.on('message', () => this.#done?.());
    // Nothing is lost with it: what it has not taken in, SQLite takes in later.
    worker.on('error', () => this.#lost(worker));
    worker.on('exit', () => this.#lost(worker));
    worker.unref();
    this.#log.setCheckpoint(0);
  }

  #lost(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#log.setCheckpoint(USUAL);
    this.#done?.();
  }

  #take(): Promise<void> {
    this.#written = 0;
    this.#underway ??= this.#ask().finally(() => {
      this.#underway = undefined;
    });
    return this.#underway;
  }

  async #ask(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#done = resolve;
    worker.ref();
    worker.postMessage(false);
    await promise;
    worker.unref();
  }

  #end(): void {
    const worker = this.#worker;
    if (!worker) return;
    this.#leaving.add(worker);
    worker.once('exit', () => this.#leaving.delete(worker));
    worker.postMessage(true);
    this.#lost(worker);
  }
}

/** Undefined where this process may have no threads. */
function started(path: string): Worker | undefined {
  try {
    return new Worker(work, { eval: true, workerData: path, execArgv: ['--no-warnings'] });
  } catch {
    return undefined;
  }
}
