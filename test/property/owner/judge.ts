import type { StoredEvent } from '../../../src/runtime/index.ts';
import { sound, yesesIn } from '../../cli/kill.ts';
import type { Said } from './words.ts';
import { KINDS } from './words.ts';

/** A line that a process has written beside the log. `begin`, `end`, `stopped`: id is a call's, more its process. */
export interface Note {
  what: string;
  id: string;
  more: string;
  name: string;
}

/** All that is known of one session. */
export interface Story {
  session: string;
  aborts: number;
  finish: string;
  /** What came of each task. */
  said: readonly Said[];
  /** Ids of stored events that somebody was shown. */
  shown: readonly string[];
  /** Ids of the events that are there in the end. */
  kept: ReadonlySet<string>;
  log: readonly StoredEvent[];
  notes: readonly Note[];
}

export function faultsOf(story: Story): string[] {
  const faults = story.finish === 'finished' ? [] : [`it cannot be brought to an end: ${story.finish}`];
  return [...faults, ...sound(story.log), ...oneOwner(story), ...oneWriter(story), ...runs(story), ...kept(story)];
}

/** While a process runs a tool, no other one begins one. */
function oneOwner({ notes }: Story): string[] {
  const faults: string[] = [];
  const running = new Map<string, string>();
  for (const { what, id, more: pid } of notes) {
    const key = `${id} ${pid}`;
    if (what === 'begin') {
      for (const [other, by] of running) if (by !== pid) faults.push(`${key} began while ${other} ran`);
      running.set(key, pid);
    } else if (what === 'killed') {
      for (const [other, by] of running) if (by === pid) running.delete(other);
    } else running.delete(key);
  }
  return faults;
}

/** Leases only grow newer along the log. */
function oneWriter({ notes, log }: Story): string[] {
  const faults: string[] = [];
  const appends = notes
    .filter(({ what }) => what === 'stored')
    .map(({ id, more }) => [Number(more), Number(id)] as const);
  appends.sort(([a], [b]) => a - b);
  let newest = 0;
  for (const [seq, epoch] of appends) {
    if (epoch < newest) faults.push(`event ${seq} was stored under lease ${epoch}, after one of lease ${newest}`);
    newest = Math.max(newest, epoch);
  }
  let began = 0;
  for (const { seq, actions } of log) {
    if (actions.startedIn === undefined) continue;
    if (actions.startedIn < began) faults.push(`event ${seq} starts calls under an older lease than those before`);
    began = actions.startedIn;
  }
  return faults;
}

function runs({ notes, log, aborts }: Story): string[] {
  const faults: string[] = [];
  const yeses = yesesIn(log);
  const results = new Map<string, string | undefined>();
  for (const { content } of log) {
    for (const part of content?.parts ?? []) {
      if (part.type === 'function_response') results.set(part.id, part.errorType);
    }
  }
  const started = new Set(log.flatMap(({ actions }) => actions.started ?? []));
  const ids = new Set(notes.filter(({ what }) => what === 'begin').map(({ id }) => id));
  for (const id of ids) {
    const own = notes.filter((one) => one.id === id || one.what === 'killed');
    const begun = own.filter(({ what }) => what === 'begin');
    const name = begun[0]?.name ?? '';
    const { idempotent, readOnly } = KINDS[name.replace('own_', '')] ?? {};
    const mayRepeat = idempotent || readOnly;
    if (begun.length > 1 && !mayRepeat && begun.length > 1 + (yeses.get(id) ?? 0)) {
      faults.push(`${name} ${id} ran ${begun.length} times, with ${yeses.get(id) ?? 0} yeses`);
    }
    for (const [index, { more: pid }] of begun.entries()) {
      const from = own.indexOf(begun[index] as Note);
      const to = own.indexOf(begun[index + 1] as Note);
      const isGone = own.slice(from, to < 0 ? undefined : to).some((one) => one.what === 'killed' && one.more === pid);
      if (to >= 0 && !isGone && aborts === 0) faults.push(`${name} ${id} ran again though its process lived`);
      const hasEnded = own.some((one) => one.what === 'end' && one.more === pid && one.id === id);
      if (to < 0 && hasEnded && !isGone && aborts === 0 && results.get(id) === 'interrupted') {
        faults.push(`${name} ${id} was finished and is told to be interrupted`);
      }
    }
    if (!mayRepeat && !started.has(id)) faults.push(`${name} ${id} ran without a start in the log`);
  }
  for (const [id, errorType] of results) {
    // Between its start and its handler an abort or a kill may come.
    if (errorType === 'interrupted' && !ids.has(id) && !started.has(id)) {
      faults.push(`${id} was never started and is told to be interrupted`);
    }
  }
  return faults;
}

/** Nothing that somebody was shown, or was told to be taken, is gone. */
function kept({ shown, said, log, kept: ids }: Story): string[] {
  const faults = shown.filter((id) => !ids.has(id)).map((id) => `event ${id} was shown and is lost`);
  const answers = new Map(
    log.flatMap(({ actions }) =>
      Object.entries(actions.answers ?? {}).map(([id, { action }]) => [id, action] as const),
    ),
  );
  // Who answers a call itself decides on it.
  for (const { actions } of log) {
    for (const [callId, { outcome }] of Object.entries(actions.decisions ?? {})) {
      if (!answers.has(callId)) answers.set(callId, outcome === 'approved' ? 'accept' : 'decline');
    }
  }
  const firsts = new Set<string>();
  for (const { ok, answered } of said) {
    if (!answered?.isFirst) continue;
    const { requestId, isYes } = answered;
    if (firsts.has(requestId)) faults.push(`two were told to have answered ${requestId} first`);
    firsts.add(requestId);
    const stored = answers.get(requestId);
    if (stored === undefined) faults.push(`the answer to ${requestId} was taken (${ok}) and is lost`);
    else if ((stored === 'accept') !== isYes) faults.push(`the answer to ${requestId} is stored as ${stored}`);
  }
  return faults;
}
