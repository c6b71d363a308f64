import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../bench/result.ts';
import { workloads } from '../../bench/workloads/index.ts';

const script = join(import.meta.dirname, '..', '..', 'bench', 'run.ts');

/** Each workload once. How fast it was is not looked at: that is for a quiet machine. */
function bench(...args: string[]) {
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
}

describe('npm run bench', () => {
  test('measures every workload, on a session and on a hosted one', { timeout: 180_000 }, () => {
    const { stdout, stderr, status } = bench('--json', '--iterations', '1', '--rounds', '1', '--regime', 'cold');
    expect(stdout, stderr).toMatch(/^\[/);
    const rows = JSON.parse(stdout) as Row[];
    for (const workload of Object.keys(workloads)) {
      for (const subject of ['session', 'hosted']) {
        expect(
          rows.filter((row) => row.workload === workload && row.subject === subject),
          `${workload} ${subject}`,
        ).not.toEqual([]);
      }
    }
    for (const row of rows) {
      expect(row.value, JSON.stringify(row)).toBeGreaterThan(0);
      expect(row.samples).toBe(1);
      expect(['ms', 'MB', 'times']).toContain(row.unit);
      expect(row.target.limit).toBeGreaterThan(0);
      expect(row.judged, JSON.stringify(row)).toBeGreaterThan(0);
      if (row.target.of !== 'peer') expect(row.judged).toBe(row.target.of === 'floor' ? row.ratio : row.value);
      expect(row.pass).toBe(row.judged <= row.target.limit);
      if (row.unit === 'ms') {
        expect(row.floor, JSON.stringify(row)).toBeGreaterThan(0);
        expect(row.ratio).toBeCloseTo(row.value / (row.floor ?? Number.NaN));
        expect(row.loops).toBeGreaterThan(0);
      }
    }
    expect(status).toBe(rows.every((row) => row.pass) ? 0 : 1);
  });

  test('measures a workload in a steady process', { timeout: 60_000 }, () => {
    const child = join(import.meta.dirname, '..', '..', 'bench', 'child.ts');
    const { stdout, stderr } = spawnSync(process.execPath, [child, 'W1', 'session', 'steady', '1'], {
      encoding: 'utf8',
    });
    expect(stdout, stderr).toMatch(/^\[/);
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.map(({ workload, subject, regime }) => [workload, subject, regime])).toEqual([
      ['W1', 'session', 'steady'],
    ]);
  });

  test('names the workloads that there are when asked for another', () => {
    const { stderr, status } = bench('W9');
    expect(status).toBe(2);
    expect(stderr).toContain('W0, W1, W2');
  });
});
