import { createReadStream, createWriteStream, openSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { forkAt, settling } from '../../adapters/adk/index.ts';
import { exportSession, importSession, rewind, turnStarts } from '../../adapters/stores/common/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { openCallChanges, warnOnStderr } from '../../runtime/index.ts';
import { EXIT, linesIn } from '../terminal/index.ts';
import type { StoreFlags } from '../workspace/index.ts';
import { openKeptStore } from '../workspace/index.ts';
import { missing, withStore } from './sessions.ts';

export interface ForkFlags extends StoreFlags {
  through?: number;
  id?: string;
}

/** `coxswain sessions fork`: a copy that goes its own way; what is open stays with the original. */
export async function forkSession(id: string, flags: ForkFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = { app: flags.app, userId: flags.user, id };
    if (!(await store.sessions.get(key, { limit: 0 }))) throw missing(key, store);
    const { through } = flags;
    const options = {
      ...(through === undefined ? {} : { through }),
      ...(flags.id === undefined ? {} : { id: flags.id }),
    };
    const copy = await forkAt(store.sessions, { artifacts: store.artifacts, warn: warnOnStderr }, key, options);
    const copied = copy.lastSeq - copy.events.length;
    process.stderr.write(`forked ${id} through event ${copied}\n`);
    process.stdout.write(`${copy.key.id}\n`);
    return EXIT.done;
  });
}

export interface RewindFlags extends StoreFlags {
  turns?: number;
  through?: number;
}

/** `coxswain sessions rewind`: takes back the last turns; the log keeps them. */
export async function rewindSession(id: string, flags: RewindFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = { app: flags.app, userId: flags.user, id };
    const record = await store.sessions.get(key);
    if (!record) throw missing(key, store);
    const starts = turnStarts(record.events);
    const turns = flags.turns ?? 1;
    const through = flags.through ?? starts.at(-turns);
    if (through === undefined) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_BAD_INPUT',
        `session ${id} has ${starts.length} turns; ${turns} cannot be undone`,
      );
    }
    const marker = await rewind(store.sessions, key, through);
    const back = starts.filter((seq) => seq >= through).length;
    const said = marker ? `undid ${back === 1 ? '1 turn' : `${back} turns`} of ${id}` : `${id} stands there already`;
    process.stderr.write(`${said}; it continues after event ${through}\n`);
    return EXIT.done;
  });
}

export interface ExportFlags extends StoreFlags {
  out?: string;
}

/** `coxswain sessions export`: a session as lines of JSON. */
export async function exportLines(id: string, flags: ExportFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = { app: flags.app, userId: flags.user, id };
    if (!(await store.sessions.get(key, { limit: 0 }))) throw missing(key, store);
    async function* lines() {
      for await (const line of exportSession(store.sessions, key)) yield `${line}\n`;
    }
    if (flags.out === undefined) await pipeline(Readable.from(lines()), process.stdout, { end: false });
    // A file that is there is nobody's to be replaced by a mistake.
    else await pipeline(Readable.from(lines()), createWriteStream('', { fd: newFile(flags.out) }));
    return EXIT.done;
  });
}

export interface ImportFlags extends StoreFlags {
  id?: string;
  /** False with --no-keep-open. */
  keepOpen: boolean;
}

/** `coxswain sessions import`: adds a session that was exported, for this app and user. */
export async function importLines(file: string | undefined, flags: ImportFlags): Promise<number> {
  const store = await openKeptStore(flags.store);
  try {
    const scope = { app: flags.app, userId: flags.user, ...(flags.id === undefined ? {} : { id: flags.id }) };
    const input = file === undefined || file === '-' ? process.stdin : createReadStream(file);
    const settle = settling(store.sessions);
    let [imported, settled] = [0, 0];
    const work = importSession(store.sessions, scope, linesIn(input), {
      sameId: flags.id === undefined,
      settle: async (copy, { key: { app, userId, id } }) => {
        imported = copy.lastSeq;
        const source = { app, userId, id };
        const isCopy =
          JSON.stringify(source) !== JSON.stringify(copy.key) && (await store.sessions.get(source, { limit: 0 }));
        if (!isCopy && flags.keepOpen) return [];
        const events = settle(copy);
        settled = openCallChanges(events).closed.length;
        return events;
      },
    });
    const record = await work.catch((error: unknown) => {
      throw (error as { syscall?: unknown }).syscall === undefined ? error : unread(file, error);
    });
    if (settled > 0) process.stderr.write(`${settled} open calls were settled: they stay with the original\n`);
    process.stderr.write(`imported ${imported} events\n`);
    process.stdout.write(`${record.key.id}\n`);
    return EXIT.done;
  } finally {
    await store.close();
  }
}

function newFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = taken ? 'is there already' : `cannot be written (${messageOf(error)})`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', `--out: ${path} ${why}; give another file`, {
      cause: error,
    });
  }
}

function unread(file: string | undefined, error: unknown): CoxswainError {
  const name = file ?? 'the input';
  return new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', `${name} cannot be read (${messageOf(error)})`, {
    cause: error,
  });
}
