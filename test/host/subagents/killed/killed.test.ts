import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'killed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Line = Record<string, unknown>;

/** Runs one process until it shows what is waited for, and kills it there. */
async function killedAt(isIt: (line: Line) => boolean, ...yes: string[]): Promise<Line[]> {
  const script = join(import.meta.dirname, 'team.ts');
  const child = spawn(process.execPath, [script, join(folder, 'log.db'), join(folder, 'notes'), ...yes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    if (isIt(line)) break;
  }
  child.kill('SIGKILL');
  await exited;
  return lines;
}

const notes = () => readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n');
const isRest = (line: Line) => 'pending' in line;

test('F19 S3-30 S3-56 approvals in an agent as a tool and in a sub-agent, in parallel branches, in a sequence: killed at each, answered out of order', async () => {
  const first = await killedAt(isRest);
  expect(first.at(-1)).toEqual({ pending: ['team/all/left/expert pay', 'team/all/right/helper ship'] });
  // Killed as soon as the result of what was asked second is seen.
  const second = await killedAt(({ type, name }) => type === 'tool_response' && name === 'helper', 'ship');
  expect(second.map(({ name }) => name)).not.toContain('pay');
  expect(notes().filter((line) => line.startsWith('ran'))).toEqual([
    'ran count for team/all/middle',
    'ran ship for team/all/right/helper',
  ]);
  const third = await killedAt(isRest, 'pay');
  expect(third.at(-1)).toEqual({ pending: [] });
  expect(third.find((line) => 'end' in line)).toEqual({
    end: 'completed',
    state: ['said_expert', 'said_first', 'said_last', 'said_left', 'said_middle', 'said_right'],
  });
  expect(
    notes()
      .filter((line) => line.startsWith('ran'))
      .sort(),
  ).toEqual([
    'ran count for team/all/middle',
    'ran pay for team/all/left/expert',
    'ran ship for team/all/right/helper',
  ]);
  // Whoever had ended was not asked again; a model call that was cut off by the kill may have been.
  const asked = Object.entries(
    Object.groupBy(
      notes().filter((line) => line.startsWith('asked')),
      (line) => line.slice(6),
    ),
  );
  const often = Object.fromEntries(asked.map(([name, lines = []]) => [name, lines.length]));
  expect(often).toMatchObject({ first: 1, middle: 2, expert: 2, left: 2, helper: 2, last: 1 });
});
