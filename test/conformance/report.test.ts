import { expect, test } from 'vitest';
import type { Finding } from '../../src/conformance/index.ts';
import { junitOf, makeReport, parseExpectedFailures, tableOf } from '../../src/conformance/index.ts';

const finding = (id: string, more: Partial<Finding> = {}): Finding => ({
  id,
  title: `what ${id} says`,
  tier: 'MANDATORY',
  cites: 'a section',
  status: 'passed',
  transcript: [],
  ...more,
});
const broken: Partial<Finding> = {
  status: 'failed',
  expected: 'one <end>',
  found: 'two & \u0001',
  transcript: ['> stream "hi"', '< stream_end'],
};

const verdicts = (expected: Record<string, string>, ...findings: Finding[]) => {
  const { rows, conformant } = makeReport('mine', '1.0', findings, expected);
  return [...rows.map(({ id, verdict }) => `${id} ${verdict}`), conformant];
};

test('what is mandatory or advertised fails, what is advice is told', () => {
  expect(verdicts({}, finding('A'), finding('B', { status: 'untested', tier: 'CAPABILITY' }))).toEqual([
    'A passed',
    'B untested',
    true,
  ]);
  expect(verdicts({}, finding('A', { ...broken, tier: 'ADVISORY' }))).toEqual(['A advice', true]);
  expect(verdicts({}, finding('A', { ...broken, tier: 'CAPABILITY' }))).toEqual(['A failed', false]);
});

test('a known failure does not fail; one that is stale does', () => {
  expect(verdicts({ A: 'no store yet' }, finding('A', broken))).toEqual(['A expected', true]);
  expect(verdicts({ A: 'no store yet' }, finding('A'))).toEqual(['A stale', false]);
  expect(verdicts({ A: 'no store yet' }, finding('A', { status: 'untested' }))).toEqual(['A stale', false]);
  expect(verdicts({ Z: 'mistyped' }, finding('A'))).toEqual(['A passed', 'Z stale', false]);
});

test.each([
  ['not json', '{', /known\.json is not JSON/],
  ['a list', '["A"]', /not an object/],
  ['no reason', '{"A":" "}', /A has no reason/],
])('a file of expected failures with %s is refused', (_, text, message) => {
  expect(() => parseExpectedFailures(text, 'known.json')).toThrow(
    expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringMatching(message) }),
  );
});

test('the table has a line each, then expectation and transcript of what failed', () => {
  const rows = [finding('A'), finding('B', broken), finding('C', broken)];
  const lines = tableOf(makeReport('mine', '1.0', rows, { C: 'later' })).split('\n');
  expect(lines).toContain('ok       A             MANDATORY     what A says');
  expect(lines).toContain('FAILED   B             MANDATORY     what B says');
  expect(lines).toContain('known    C             MANDATORY     what C says (later)');
  expect(lines).toContain('  expected: one <end>');
  expect(lines).toContain('    < stream_end');
  expect(lines.at(-2)).toBe('1 passed, 1 failed, 1 expected: NOT conformant');
});

test('NEW-C3 what was not tested is a line for each reason', () => {
  const untested = (id: string, note: string) => finding(id, { status: 'untested', tier: 'CAPABILITY', note });
  const rows = [
    finding('A'),
    ...'BCDEFGHI'.split('').map((id) => untested(id, 'no steer')),
    untested('Z', 'no resume'),
  ];
  const lines = tableOf(makeReport('mine', '1.0', rows)).split('\n');
  expect(lines.filter((line) => line.startsWith('untested'))).toEqual([
    'untested 8: no steer (B, C, D, E, F and 3 more)',
    'untested 1: no resume (Z)',
  ]);
});

test('NEW-C1 what was not tested because of a known failure is no excuse', () => {
  const needy = finding('B', { status: 'untested', note: 'needs A, which fails', needs: 'A' });
  expect(verdicts({}, finding('A', broken), needy)).toEqual(['A failed', 'B untested', false]);
  expect(verdicts({ A: 'no store yet' }, finding('A', broken), needy)).toEqual(['A expected', 'B failed', false]);
});

test('JUnit: failures and stale entries fail, the rest is skipped; no character that XML cannot hold', () => {
  const rows = [finding('A'), finding('B', broken), finding('C', broken), finding('D')];
  const xml = junitOf(makeReport('"mine"', '1.0', rows, { C: 'later', D: 'mended since' }));
  expect(xml).toContain(
    '<testsuites name="conformance 1.0: &quot;mine&quot;" tests="4" failures="2" errors="0" skipped="1">',
  );
  expect(xml).toContain('<testcase classname="MANDATORY" name="A what A says"/>');
  expect(xml).toContain('<failure message="expected one &lt;end&gt;">');
  expect(xml).toContain('two &amp; \ufffd');
  expect(xml).toContain('<skipped message="expected: later"/>');
  expect(xml).toContain('<failure message="an expected failure that is none">mended since</failure>');
});
