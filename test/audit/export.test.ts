import { beforeAll, describe, expect, test } from 'vitest';
import { exportAudit, verifyExport, verifySession } from '../../src/adapters/audit/index.ts';
import type { SessionKey, SessionService } from '../../src/runtime/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import type { RedactionOptions } from '../../src/session/index.ts';
import { all } from '../host/kit.ts';
import { paidSession } from './kit.ts';

let store: SessionService;
let key: SessionKey;
let lines: string[];

beforeAll(async () => {
  store = new InMemorySessionService({ chained: true });
  key = await paidSession(store);
  lines = await all(exportAudit(store, key));
});

const faultsOf = async (changed: readonly string[]) =>
  (await verifyExport(changed)).faults.map(({ line, fault }) => `${line} ${fault}`);
const redacted = (options: RedactionOptions) => all(exportAudit(store, key, options));

test('a store in memory keeps a chain where it is asked to', async () => {
  const plain = new InMemorySessionService();
  expect(await verifySession(plain, await paidSession(plain))).toMatchObject({ linked: 0, faults: [] });
  expect((await verifySession(store, key)).linked).toBeGreaterThan(0);
});

describe('an export', () => {
  test('holds the evidence and nothing else, and fits itself and the log that it was made from', async () => {
    const report = await verifyExport(lines);
    expect(report).toMatchObject({ ok: true, faults: [], redacted: 1, audited: lines.length - 2 });
    expect(report.head).toEqual((await verifySession(store, key)).head);
    expect(lines.join('\n')).not.toContain('"done"');
    // What was said with the terms of the turn.
    expect(lines.join('\n')).not.toContain('"go"');
    expect(lines.join('\n')).toContain('no. 4711');
  });

  test('any byte of any line that is changed: the line is named', async () => {
    for (const [index, line] of lines.entries()) {
      for (const at of [5, line.length >> 1, line.length - 8]) {
        const byte = line[at] === 'x' ? 'y' : 'x';
        const changed = lines.with(index, `${line.slice(0, at)}${byte}${line.slice(at + 1)}`);
        const faults = await faultsOf(changed);
        expect([index + 1, at, faults[0]?.split(' ')[0]]).toEqual([index + 1, at, String(index + 1)]);
      }
    }
  });

  test('a line that was removed, two that were swapped, an end that is gone', async () => {
    for (let index = 1; index < lines.length - 1; index++) {
      expect((await faultsOf(lines.toSpliced(index, 1)))[0]).toMatch(new RegExp(`^${index + 1} `));
    }
    const [first = '', second = ''] = lines.slice(2, 4);
    const swapped = await faultsOf(lines.with(2, second).with(3, first));
    expect(swapped[0]).toMatch(/^3 /);
    expect(swapped).toContain('3 reordered');
    expect(await faultsOf(lines.slice(0, -1))).toEqual([`${lines.length - 1} missing`]);
    expect((await faultsOf([...lines, lines[2] ?? ''])).at(-1)).toMatch(/malformed|changed/);
    expect((await verifyExport([])).ok).toBe(false);
    expect((await verifyExport(['hello'])).ok).toBe(false);
  });

  test('hides what a viewer may not see, wherever it stands, and still fits', async () => {
    const rules = [{ tool: 'pay', args: ['/card/number'], unlessRole: ['auditor'] }];
    const hidden = await redacted({ rules, viewer: { id: 'eve', roles: ['clerk'] } });
    expect(hidden.join('\n')).not.toContain('no. 4711');
    const report = await verifyExport(hidden);
    expect([report.ok, report.faults, report.redacted > 0]).toEqual([true, [], true]);
    expect(report.head).toEqual((await verifyExport(lines)).head);
    const shown = await redacted({ rules, viewer: { id: 'kim', roles: ['auditor'] } });
    expect(shown.join('\n')).toContain('no. 4711');
  });

  test('hides results where a rule says so', async () => {
    const hidden = await redacted({ rules: [{ tool: 'look', result: true }] });
    expect(hidden.join('\n')).not.toContain('look done');
    expect(hidden.join('\n')).toContain('pay done');
    expect(await verifyExport(hidden)).toMatchObject({ ok: true, redacted: 2 });
  });
});
