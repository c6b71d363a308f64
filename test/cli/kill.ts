import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { project, projectEnd } from '../../src/adapters/adk/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { userName } from '../../src/cli/workspace/flags.ts';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { canonicalJson } from '../../src/contracts/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import type { Running } from './coxswain.ts';
import { eventsOf, mainJob, Place, requestIn, workspaceAgent } from './coxswain.ts';

/** When the process dies: once it has shown so many lines, or once so many events are in its database. */
export interface KillPoint {
  watch: 'lines' | 'store';
  at: number;
}

export interface KillReport {
  point: KillPoint;
  faults: string[];
  /** Events that were stored when the process died. */
  stored: number;
  /** Answers that were needed to complete the job. */
  asked: number;
}

/** Lines and stored events of a main job that nobody kills. */
export const WHOLE = { lines: 59, store: 10 };

/** Kill points of a seed, the same each time. */
export function killPoints(seed: number, count: number): KillPoint[] {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return Array.from({ length: count }, (_, index) => {
    const watch = index % 2 === 0 ? 'lines' : 'store';
    return { watch, at: 1 + Math.floor(random() * WHOLE[watch]) };
  });
}

const STORE = ['--store', 'sqlite:kill.db'];

/** Runs the main job, kills it, and judges from the database and a second process alone whether all is well. */
export async function killAndJudge(point: KillPoint): Promise<KillReport> {
  using place = new Place();
  const report: KillReport = { point, faults: [], stored: 0, asked: 0 };
  const job = ['run', workspaceAgent, '--workspace', place.files, ...STORE, '--approve', 'allow'];
  const running = place.start([...job, mainJob, '--stream-json']);
  await killAt(running, join(place.path, 'kill.db'), point);
  const { stdout, stderr } = await running.ended;
  const session = /^session (\S+)$/m.exec(stderr)?.[1];
  const shown = eventsOf(stdout.slice(0, stdout.lastIndexOf('\n') + 1));
  if (session === undefined) {
    if (shown.length > 0) report.faults.push('events were shown before the session was told');
    return report;
  }
  const before = await readLog(place, session);
  report.stored = before.length;
  report.faults.push(...sound(before), ...lost(shown, before, session));

  report.faults.push(...(await complete(place, job, session, report)));

  const after = await readLog(place, session);
  report.faults.push(...sound(after), ...changed(before, after));
  if (after.at(-1)?.actions.end?.reason !== 'completed') report.faults.push('the turn is not completed');
  const list = join(place.files, 'todo.md');
  if (!existsSync(list)) report.faults.push('todo.md was not written');
  else if (!readFileSync(list, 'utf8').startsWith('# TODO\n\n11 matches in 10 files.\n')) {
    report.faults.push('todo.md has another text');
  }
  return report;
}

async function killAt(running: Running, database: string, { watch, at }: KillPoint): Promise<void> {
  const { child } = running;
  const lines = () => running.stdout.split('\n').length - 1;
  let reader: DatabaseSync | undefined;
  try {
    while (child.exitCode === null && child.signalCode === null) {
      if (watch === 'store') reader ??= existsSync(database) ? openReader(database) : undefined;
      if ((watch === 'lines' ? lines() : storedIn(reader)) >= at) break;
      await turn();
    }
  } finally {
    child.kill('SIGKILL');
    reader?.close();
  }
}

function openReader(database: string): DatabaseSync | undefined {
  try {
    return new DatabaseSync(database, { readOnly: true });
  } catch {
    return undefined;
  }
}

function storedIn(reader: DatabaseSync | undefined): number {
  try {
    return Number(reader?.prepare('SELECT max(seq) AS seq FROM adk_events').get()?.seq ?? 0);
  } catch {
    // The tables are not made yet, or are being made now.
    return 0;
  }
}

export async function readLog(place: Place, id: string): Promise<readonly StoredEvent[]> {
  const store = openSqlite(join(place.path, 'kill.db'), { readOnly: true });
  try {
    return (await store.get({ app: 'cli', userId: userName(), id }))?.events ?? [];
  } finally {
    await store.close();
  }
}

/** One log by itself: no gap, one result a call, no start after a result, no more starts than yeses. */
export function sound(log: readonly StoredEvent[]): string[] {
  const faults: string[] = [];
  const results = new Set<string>();
  const starts = new Map<string, number>();
  const reruns = yesesIn(log);
  for (const [index, { seq, content, actions }] of log.entries()) {
    if (seq !== index + 1) faults.push(`seq ${seq} stands at place ${index + 1}`);
    for (const part of content?.parts ?? []) {
      if (part.type !== 'function_response') continue;
      if (results.has(part.id)) faults.push(`${part.name} has two results`);
      results.add(part.id);
    }
    for (const callId of actions.started ?? []) {
      if (results.has(callId)) faults.push(`${callId} was started after its result`);
      starts.set(callId, (starts.get(callId) ?? 0) + 1);
    }
  }
  for (const [callId, count] of starts) {
    if (count > 1 + (reruns.get(callId) ?? 0)) faults.push(`${callId} was started ${count} times without being asked`);
  }
  return faults;
}

/** Yeses to a second run, by call. */
export function yesesIn(log: readonly StoredEvent[]): Map<string, number> {
  const asked = new Set<string>();
  const yeses = new Map<string, number>();
  for (const { actions } of log) {
    for (const { requestId, kind } of actions.asks ?? []) if (kind === 'rerun_unknown') asked.add(requestId);
    for (const [requestId, { action }] of Object.entries(actions.answers ?? {})) {
      const [callId = '', question = ''] = requestId.split('#');
      if (action !== 'accept' || !(question.startsWith('rerun') || asked.has(requestId))) continue;
      yeses.set(callId, (yeses.get(callId) ?? 0) + 1);
    }
  }
  return yeses;
}

/** Durable events that were shown and are not stored as they were shown. */
export function lost(shown: readonly AgentEvent[], log: readonly StoredEvent[], session: string): string[] {
  const stored = new Map<string, AgentEvent>();
  for (const event of log) {
    const items = project(session, event);
    if (event.actions.end) items.push(projectEnd(session, event, items.length, {}));
    for (const item of items) stored.set(item.id, item);
  }
  const plain = (event: AgentEvent) => canonicalJson({ ...event, data: event.type === 'stream_end' ? {} : event });
  return shown.flatMap((event) => {
    if (event.cursor === undefined) return [];
    const kept = stored.get(event.id);
    if (kept === undefined) return [`${event.type} ${event.id} was shown and is lost`];
    const same = event.type === 'stream_end' ? kept.type === event.type : plain(kept) === plain(event);
    return same ? [] : [`${event.type} ${event.id} was shown otherwise than it is stored`];
  });
}

/** What was stored stays, and what has a result keeps it. */
function changed(before: readonly StoredEvent[], after: readonly StoredEvent[]): string[] {
  return before.flatMap((event, index) =>
    canonicalJson(event) === canonicalJson(after[index]) ? [] : [`stored event ${event.seq} has changed`],
  );
}

/** Second processes bring the job to its end: each goes on, or is told what is asked. */
async function complete(place: Place, job: string[], session: string, report: KillReport): Promise<string[]> {
  const on = [...job, '--session', session];
  for (let tries = 0; tries < 4; tries++) {
    const { code, stderr } = await place.run([...on, '--json']);
    if (code === 0 && stderr.includes('nothing to do: nobody has said anything yet')) {
      const first = await place.run([...on, '--json', mainJob]);
      return first.code === 0 ? [] : [`the job could not be started again (${first.code}): ${first.stderr}`];
    }
    if (code === 0) return [];
    if (code !== 4) return [`going on failed (${code}): ${stderr}`];
    // With --approve allow only a half-run call can still be asked about.
    if (!stderr.includes('was started and its outcome is unknown')) return [`something else was asked: ${stderr}`];
    report.asked++;
    const request = requestIn(stderr).replaceAll("'", '');
    const { 1: agent = '' } = job;
    const flags = ['--agent', agent, '--workspace', place.files, ...STORE];
    const yes = await place.run(['approvals', 'approve', request, ...flags]);
    if (yes.code === 0) return [];
    if (yes.code !== 4) return [`the answer was not taken (${yes.code}): ${yes.stderr}`];
  }
  return ['the job does not come to an end'];
}

/** Judges several points side by side. */
export async function killAll(
  points: readonly KillPoint[],
  options: { width: number; seen?: (report: KillReport) => void },
): Promise<KillReport[]> {
  const left = [...points];
  const reports: KillReport[] = [];
  const worker = async () => {
    for (let point = left.shift(); point; point = left.shift()) {
      const report = await killAndJudge(point);
      reports.push(report);
      options.seen?.(report);
    }
  };
  await Promise.all(Array.from({ length: options.width }, worker));
  return reports;
}
