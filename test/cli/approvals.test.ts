import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { eventsOf, Place, puppet, requestIn, sessionIn } from './coxswain.ts';
import { command } from './in-process.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const flags = () => ['--workspace', place.desk];
const ledger = () => join(place.desk, 'ledger.txt');
const paid = () => (existsSync(ledger()) ? readFileSync(ledger(), 'utf8').trim().split('\n') : []);
const pay = (...more: string[]) => place.run(['run', puppet, 'call pay {"amount":5}', ...flags(), ...more]);
const answer = (verb: string, id: string, ...more: string[]) =>
  place.run(['approvals', verb, id, '--agent', puppet, ...flags(), ...more]);
const request = (stderr: string) => requestIn(stderr).replaceAll("'", '');

test('deny: nothing runs, the reason reaches the agent, 3', async () => {
  const id = request((await pay()).stderr);
  const { code, stdout } = await answer('deny', id, '--reason', 'too dear', '--by', 'anna');
  expect(code).toBe(3);
  expect(stdout).toContain('too dear');
  expect(paid()).toEqual([]);
});

test('edited arguments are checked, then run', async () => {
  const id = request((await pay()).stderr);
  const wrong = await answer('approve', id, '--args', '{"amount":"lots"}');
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('E_WRONG_ANSWER');
  const { code, stdout } = await answer('approve', id, '--args', '{"amount":3}', '--json');
  expect(code).toBe(0);
  expect(eventsOf(stdout).at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
  expect(paid()).toEqual(['3']);
});

test('whoever answers goes on within the limits that the run was begun with', async () => {
  const own = [...flags(), '--store', `sqlite:${join(place.path, 'own.db')}`];
  const first = await command(['run', puppet, 'call pay {"amount":5}', ...own, '--max-steps', '1']);
  expect(first.code).toBe(4);
  const on = await command(['approvals', 'approve', request(first.stderr), '--agent', puppet, ...own]);
  expect([on.code, paid()]).toEqual([5, ['5']]);
});

test('an id that several sessions have answers none of them', async () => {
  const file = join(place.path, 'twins.db');
  const own = [...flags(), '--store', `sqlite:${file}`, '--user', 'anna'];
  const first = await command(['run', puppet, 'call pay {"amount":5}', ...own]);
  const key = { app: 'cli', userId: 'anna', id: sessionIn(first.stderr) };
  const store = openSqlite(file);
  const { events = [] } = (await store.get(key)) ?? {};
  await store.create({ ...key, id: 'twin' });
  await store.append({ ...key, id: 'twin' }, structuredClone(events));
  await store.close();
  const answered = await command(['approvals', 'approve', request(first.stderr), '--agent', puppet, ...own]);
  expect(answered).toMatchObject({ code: 2, stderr: expect.stringContaining('twin') });
  expect(paid()).toEqual([]);
});

test('--no-run records the answer; the session goes on later', async () => {
  const first = await pay();
  const recorded = await answer('approve', request(first.stderr), '--no-run', '--by', 'anna');
  expect(recorded.code).toBe(0);
  expect(recorded.stderr).toContain('approved by anna');
  expect(paid()).toEqual([]);
  const on = await place.run(['run', puppet, ...flags(), '--session', sessionIn(first.stderr)]);
  expect([on.code, on.stdout]).toEqual([0, '{"content":"paid 5"}\n']);
  expect(paid()).toEqual(['5']);
});

test('without a module the open calls are listed', async () => {
  const first = await pay();
  const { stdout } = await place.run(['approvals', 'list']);
  expect(stdout).toMatch(new RegExp(`^\\S+ {2}pay {2}session ${sessionIn(first.stderr)}`));
  const none = await place.run(['approvals', 'list', '--session', 'other']);
  expect(none.stdout).toBe('');
});

test('a rule that names its approvers: not whoever asked, not --approve allow, the right role', async () => {
  const rule = '  - tool: pay\n    outcome: ask\n    approvers: { roles: [boss], notRequester: true }\n';
  writeFileSync(join(place.path, 'policy.yaml'), `version: 1\nrules:\n${rule}`);
  const policy = ['--policy', 'policy.yaml', '--user', 'anna'];
  const first = await pay(...policy, '--approve', 'allow');
  expect(first.code).toBe(4);
  const id = request(first.stderr);
  const list = await place.run(['approvals', 'list', '--agent', puppet, ...flags(), ...policy]);
  expect(list.stdout).toContain('roles boss · not by the requester');
  for (const who of [['--by', 'anna', '--role', 'boss'], ['--by', 'bert'], []]) {
    const { code, stderr } = await answer('approve', id, ...policy, ...who);
    expect(code).toBe(1);
    expect(stderr).toContain('coxswain: E_NOT_APPROVER');
  }
  expect(paid()).toEqual([]);
  expect((await answer('approve', id, ...policy, '--by', 'bert', '--role', 'boss')).code).toBe(0);
  expect(paid()).toEqual(['5']);
});

/** A run that was killed after its tool had done its work and before the result was stored. */
async function halfRun(): Promise<string> {
  writeFileSync(join(place.desk, 'hold'), '');
  const running = place.start([
    ...['run', puppet, 'call pay {"amount":5}', ...flags()],
    ...['--approve', 'allow', '--stream-json'],
  ]);
  await running.shows('"progress":1');
  running.child.kill('SIGKILL');
  await running.ended;
  rmSync(join(place.desk, 'hold'));
  expect(paid()).toEqual(['5']);
  return sessionIn(running.stderr);
}

test.each([
  ['ask', 4],
  ['allow', 4],
])('a half-run tool is asked about, also with --approve %s, and runs again only on a yes', async (how, code) => {
  const session = await halfRun();
  const on = await place.run(['run', puppet, ...flags(), '--session', session, '--approve', how]);
  expect(on.code).toBe(code);
  expect(on.stderr).toContain('input required: pay was started and its outcome is unknown. Run it again?');
  expect(paid()).toEqual(['5']);
  const yes = await answer('approve', request(on.stderr));
  expect([yes.code, yes.stdout]).toEqual([0, '{"content":"paid 5"}\n']);
  expect(paid()).toEqual(['5', '5']);
});

test('a half-run tool that shall not run again is told as interrupted, never as denied', async () => {
  const session = await halfRun();
  const on = await place.run(['run', puppet, ...flags(), '--session', session]);
  const no = await answer('deny', request(on.stderr));
  expect(no.code).toBe(0);
  expect(no.stdout).toContain('outcome is unknown');
  expect(paid()).toEqual(['5']);

  const other = await halfRunAgain();
  const never = await place.run(['run', puppet, ...flags(), '--session', other, '--approve', 'deny']);
  expect(never.code).toBe(0);
  expect(never.stdout).toContain('outcome is unknown');
  expect(paid()).toEqual(['5']);
});

async function halfRunAgain(): Promise<string> {
  rmSync(ledger());
  return halfRun();
}

test('a yes with a digest is to what was listed: what has changed since is not approved', async () => {
  const own = [...flags(), '--store', `sqlite:${join(place.path, 'own.db')}`];
  const first = await command(['run', puppet, 'call pay {"amount":5}', ...own]);
  const id = request(first.stderr);
  expect(first.stderr).toContain('  whole    ');
  const list = await command(['approvals', 'list', '--agent', puppet, ...own]);
  const digest = /digest ([0-9a-f]{12})/.exec(list.stdout)?.[1] ?? '';
  const approve = (shown: string) =>
    command(['approvals', 'approve', id, '--digest', shown, '--agent', puppet, ...own]);
  expect(await approve('0'.repeat(12))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_PREVIEW_CHANGED'),
  });
  expect(await approve('')).toMatchObject({ code: 2, stderr: expect.stringContaining('E_USAGE') });
  expect(paid()).toEqual([]);
  expect([(await approve(digest)).code, paid()]).toEqual([0, ['5']]);
});

describe('ATK2-16 a yes on the command line', () => {
  const payee = (name: string) => writeFileSync(join(place.desk, 'payee'), name);
  const own = () => [...flags(), '--store', `sqlite:${join(place.path, 'own.db')}`];
  /** A line that the command printed, as arguments. */
  const words = (text: string, what: string) =>
    (new RegExp(`^ {2}${what} +(?:npx )?coxswain (.+)$`, 'm').exec(text)?.[1] ?? '').replaceAll("'", '').split(' ');

  test('is to what a run has shown: what has changed since does not run, with a digest or without', async () => {
    payee('the baker');
    const first = await command(['run', puppet, 'call pay {"amount":5}', ...own()]);
    payee('the thief');
    const line = words(first.stderr, 'approve');
    expect(line).toContain('--digest');
    const plain = ['approvals', 'approve', request(first.stderr), '--agent', puppet, ...own()];
    for (const approve of [line, plain]) {
      const { code, stderr } = await command(approve);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/E_PREVIEW_CHANGED.*--digest/s)]);
    }
    expect(paid()).toEqual([]);
    payee('the baker');
    expect([(await command(line)).code, paid()]).toEqual([0, ['5']]);
  });

  test('sibling: what was listed since is another than a run has shown, so its yes takes its digest', async () => {
    const first = await command(['run', puppet, 'call pay {"amount":7}', ...own()]);
    payee('somebody');
    const list = await command(['approvals', 'list', '--agent', puppet, ...own()]);
    expect(list.stdout).toContain('pays 7 to somebody');
    const plain = ['approvals', 'approve', request(first.stderr), '--agent', puppet, ...own()];
    expect((await command([...plain, '--args', '{"amount":6}'])).stderr).toContain('E_PREVIEW_CHANGED');
    expect(paid()).toEqual([]);
    const digest = /digest ([0-9a-f]{12})/.exec(list.stdout)?.[1] ?? '';
    expect([(await command([...plain, '--digest', digest])).code, paid()]).toEqual([0, ['7']]);
  });
});

test('a port that there is none of is wrong usage', async () => {
  const { code, stderr } = await command(['serve', puppet, '--port', '99999']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Give a port from 0 to 65535')]);
});
