/**
 * `npm run bench:gate -- [--against REVISION] [--rounds N] [--iterations N]`
 *
 * Compares this tree with another revision, the parent by default, in one run: the same workloads, cold, in fresh
 * processes that take turns. What is compared is CPU time, or the number of instructions where `perf` can count them.
 * The other revision runs twice in each round: what differs between the two is noise. Ends with 1 where this tree takes
 * more than the other by more than the noise explains, never because of a time as such.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from './compile.ts';
import { median } from './measure.ts';
import type { Row } from './result.ts';

/** What a change may cost without being asked about. */
const ALLOWED = 0.05;
const root = join(import.meta.dirname, '..');

const { values } = parseArgs({
  options: {
    against: { type: 'string', default: 'HEAD^' },
    rounds: { type: 'string', default: '7' },
    iterations: { type: 'string', default: '60' },
  },
});

const cases = ['W1', 'W2', 'W6'].flatMap((name) => ['session', 'hosted'].map((subject) => ({ name, subject })));
const scratch = mkdtempSync(join(tmpdir(), 'coxswain-gate-'));
const counts = canCount();

interface Tree {
  folder: string;
  remove(): void;
}

/** The sources of the other revision under the benchmarks of this one. */
async function otherTree(): Promise<Tree> {
  const base = join(root, 'node_modules', '.cache', `gate-${process.pid}`);
  const remove = () => rmSync(base, { recursive: true, force: true });
  try {
    mkdirSync(base, { recursive: true });
    const archive = join(scratch, 'other.tar');
    execFileSync('git', ['archive', '-o', archive, values.against, 'src'], { cwd: root });
    execFileSync('tar', ['-xf', archive, '-C', base]);
    cpSync(import.meta.dirname, join(base, 'bench'), { recursive: true });
    return await compile(base);
  } finally {
    remove();
  }
}

function canCount(): boolean {
  const { status, stderr } = spawnSync('perf', ['stat', '-x,', '-e', 'instructions:u', 'true'], { encoding: 'utf8' });
  return status === 0 && /^\d/.test(stderr);
}

/** CPU milliseconds of one repetition, or instructions of the whole process. */
function cost({ folder }: Tree, name: string, subject: string): number {
  const script = [join(folder, 'child.js'), name, subject, 'cold', values.iterations];
  const counted = join(scratch, 'counted');
  const [command, args] = counts
    ? (['perf', ['stat', '-x,', '-e', 'instructions:u', '-o', counted, process.execPath, ...script]] as const)
    : ([process.execPath, script] as const);
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} ${subject} failed:\n${stderr}`);
  if (counts) return Number(/^(\d+),/m.exec(readFileSync(counted, 'utf8'))?.[1]);
  const [row] = JSON.parse(stdout) as Row[];
  return row?.cpu ?? Number.NaN;
}

function report(name: string, subject: string, rounds: readonly (readonly [number, number, number])[]): boolean {
  const change = median(rounds.map(([here, one, two]) => (2 * here) / (one + two))) - 1;
  const noise = median(rounds.map(([, one, two]) => Math.abs(one / two - 1)));
  const isMore = !(change <= ALLOWED + 2 * noise);
  const per = (value: number) => `${value >= 0 ? '+' : ''}${(value * 100).toFixed(1)} %`;
  const verdict = isMore ? 'takes more' : 'as before';
  console.log(`${name} ${subject.padEnd(8)} ${per(change).padStart(8)}, noise ${per(noise)}  ${verdict}`);
  return isMore;
}

const here = await compile();
let other: Tree | undefined;
try {
  other = await otherTree();
  const found = new Map(cases.map((one) => [one, [] as [number, number, number][]]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [one, rounds] of found) {
      const trees = [here, other, other];
      const costs: [number, number, number] = [0, 0, 0];
      // Who goes first changes.
      for (let k = 0; k < 3; k++) {
        const place = (k + round) % 3;
        costs[place] = cost(trees[place] ?? here, one.name, one.subject);
      }
      rounds.push(costs);
    }
  }
  console.log(`${counts ? 'instructions' : 'CPU time'} beside ${values.against}, ${values.rounds} rounds`);
  const more = cases.filter((one) => report(one.name, one.subject, found.get(one) ?? []));
  process.exitCode = more.length > 0 ? 1 : 0;
} finally {
  here.remove();
  other?.remove();
  rmSync(scratch, { recursive: true, force: true });
}
