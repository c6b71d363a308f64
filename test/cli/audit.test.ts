import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Place, puppet, sessionIn } from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const file = (name: string, text: string) => {
  const path = join(place.path, name);
  writeFileSync(path, text);
  return path;
};

const database = (work: (db: DatabaseSync) => void) => {
  const db = new DatabaseSync(join(place.path, '.coxswain', 'coxswain.db'));
  work(db);
  db.close();
};

test('CASE-F1 NEW-P7 NEW-P8 a run is shown, exported, verified, and explained; what was touched is named', async () => {
  const policy = file('team.yaml', 'version: 1\nrules:\n  - { id: looks, tool: look, outcome: allow }\n');
  const ran = await place.run([
    'run',
    puppet,
    'call look {"secret": "s3cret", "words": "a\u2028b"}',
    '--policy',
    policy,
    '--user',
    'anna',
  ]);
  expect(ran.code).toBe(0);
  const id = sessionIn(ran.stderr);
  const audit = (...args: string[]) => place.run(['audit', ...args, '--user', 'anna']);

  const shown = await audit('show', id, '--hide', 'look:/secret');
  expect(shown.stdout).toMatch(/look \{"secret":"\[redacted\]","words":"a.*b"\} {2}by \w+ for anna/);
  expect(shown.stdout).toMatch(/approved by policy, rule looks\n.*completed\n {2}hidden: \/secret\n$/s);
  // NEW-P7: it is said that something is hidden, and how it is seen; not where nothing is.
  expect(shown.stderr).toMatch(/^some arguments are hidden.*--reveal auditor --role auditor$/m);
  expect((await audit('show', id)).stderr).not.toContain('hidden');

  const exported = await audit('export', id);
  const copy = file('audit.jsonl', exported.stdout);
  const fine = await audit('verify', id, '--against', copy);
  expect([fine.code, fine.stdout]).toEqual([0, expect.stringMatching(/^ok: \d+ audited events/)]);
  const rows = exported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const callId = rows
    .flatMap(({ event }) => event?.content?.parts ?? [])
    .find(({ type }) => type === 'function_call').id;
  const explained = await place.run(['policy', 'explain', policy, callId, '--session', id, '--user', 'anna']);
  expect(explained.stdout).toMatch(
    /^stored .*: approved by policy, rule looks\nallow by looks\n.*team\.yaml:3 \("looks"\)/s,
  );

  const other = sessionIn((await place.run(['run', puppet, 'say hi', '--user', 'bob'])).stderr);
  const verifyAll = (...args: string[]) => place.run(['audit', 'verify', '--all', ...args]);
  expect(await verifyAll()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^2 sessions, 0 failed$/m) });

  database((db) => db.exec("UPDATE adk_events SET custom_metadata = replace(custom_metadata, 'looks', 'leaks')"));
  const changed = await audit('verify', id);
  expect([changed.code, changed.stdout]).toEqual([1, expect.stringMatching(/^changed: event \d+ .*\nNOT OK: /)]);

  // NEW-P8: which of all failed, and where; with --user, of that user only.
  const all = await verifyAll();
  expect([all.code, all.stdout.trim().split('\n').sort()]).toEqual([
    1,
    [
      '2 sessions, 1 failed',
      expect.stringMatching(`^anna/${id}  NOT OK: `),
      expect.stringMatching(`^anna/${id}  changed: event \\d+ `),
      expect.stringMatching(`^bob/${other}  ok: `),
    ],
  ]);
  expect(await verifyAll('--user', 'bob')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 sessions, 0 failed'),
  });
  expect(await audit('verify', id, '--all')).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
});

test('policies are tried on the table beside them: rules, and Cedar against the tools of a module', async () => {
  file('team.yaml', 'version: 1\nrules:\n  - { id: looks, tool: look, outcome: allow }\n');
  file('team.cases.yaml', 'version: 1\ncases:\n  - { call: look, expect: allow }\n  - { call: wipe, expect: deny }\n');
  const rules = await place.run(['policy', 'test', 'team.yaml']);
  expect([rules.code, rules.stdout]).toEqual([
    1,
    'ok    look {}\nFAIL  wipe {}  team.cases.yaml:4: expected outcome "deny"; got outcome "ask" (by preset:default)\n1 passed, 1 failed\n',
  ]);
  file('team.cedar', '@id("looks")\npermit(principal, action == Action::"look", resource);\n');
  const cedar = await place.run(['policy', 'test', 'team.cedar', '--agent', puppet]);
  expect([cedar.stderr, cedar.code, cedar.stdout]).toEqual([
    '',
    0,
    'ok    look {}\nok    wipe {}\n2 passed, 0 failed\n',
  ]);
  file('team.cedar', '\npermit(principal, action == Action::"loook", resource);\n');
  const broken = await place.run(['run', puppet, 'say hi', '--policy', 'team.cedar']);
  expect([broken.code, broken.stderr]).toEqual([
    2,
    expect.stringMatching(/E_POLICY_FILE team\.cedar:2: unrecognized action/),
  ]);
});
