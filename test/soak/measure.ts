import type { ChildProcess } from 'node:child_process';
import v8 from 'node:v8';

/** Classes of which nothing is left once all clients are gone. */
const CLASSES = [
  'HostedSession',
  'HostedRun',
  'LiveSession',
  'Channel',
  'Connection',
  'Attachment',
  'LogFollower',
  'LinkedSession',
  'StreamQueue',
  'EventStream',
];

export type Figures = Record<string, number>;

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[]] } };
  nodes: number[];
  strings: string[];
}

/** Objects by the name of their class, in one look at the heap; each has its prototype, too. */
async function objects(): Promise<Figures> {
  let text = '';
  for await (const chunk of v8.getHeapSnapshot()) text += String(chunk);
  const { snapshot, nodes, strings } = JSON.parse(text) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, isObject] = [fields.indexOf('type'), fields.indexOf('name'), types[0].indexOf('object')];
  const counts = new Map(CLASSES.map((one) => [strings.indexOf(one), 0]));
  for (let at = 0; at < nodes.length; at += fields.length) {
    const named = nodes[at + name] ?? -1;
    const count = nodes[at + type] === isObject ? counts.get(named) : undefined;
    if (count !== undefined) counts.set(named, count + 1);
  }
  return Object.fromEntries(CLASSES.map((one) => [one, counts.get(strings.indexOf(one)) ?? 0]));
}

/** What there is now, in quiet; needs `--expose-gc`. */
export async function measure(rows: Figures): Promise<Figures> {
  const collect = globalThis.gc;
  if (!collect) throw new Error('start it with node --expose-gc');
  for (let n = 0; n < 3; n++) {
    collect();
    // What is to be done once something is gone is done now, and lets go of more.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const heap = Math.round(process.memoryUsage().heapUsed / 1024);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  const children = handles.filter((handle) => (handle as Partial<ChildProcess>).spawnfile !== undefined);
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const processes = { handles: handles.length, children: children.length, timers, listeners };
  return { 'heap, KB': heap, ...processes, ...rows, ...(await objects()) };
}

export interface Verdict {
  what: string;
  first: number;
  last: number;
  /** Per thousand rounds. */
  slope: number;
  grows: boolean;
}

/** KB of heap that a thousand rounds may add: code that is compiled later, and what the engine keeps of it. */
const HEAP_SLOPE = 500;

/** Judges what was measured after each spell; the first is the warm-up. */
export function judge(spells: readonly { rounds: number; figures: Figures }[]): Verdict[] {
  const [first, ...rest] = spells.slice(1);
  const last = rest.at(-1);
  if (!first || !last) throw new Error('three spells are needed to see a slope');
  return Object.keys(first.figures).map((what) => {
    const at = spells.slice(1).map(({ rounds, figures }) => [rounds, figures[what] ?? 0] as const);
    const slope = 1000 * slopeOf(at);
    const [from, to] = [first.figures[what] ?? 0, last.figures[what] ?? 0];
    // What is counted gives all back; one more or less is what is on its way.
    const grows = what.startsWith('heap') ? slope > HEAP_SLOPE : to - from > 1 && slope > 0;
    return { what, first: from, last: to, slope, grows };
  });
}

/** Of the line that is nearest to all points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point[0]), mean((point) => point[1])];
  const spread = mean((point) => (point[0] - x) ** 2);
  return spread === 0 ? 0 : mean((point) => (point[0] - x) * (point[1] - y)) / spread;
}
