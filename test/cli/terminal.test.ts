import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mainJob, noTerminal, onTerminal, Place, puppet, sessionIn, workspaceAgent } from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const missing = noTerminal();
const title = missing === undefined ? 'at a terminal' : `at a terminal (skipped: ${missing})`;
/** The end of the line of keys: only then is somebody listened to. */
const KEYS = '? help]';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';

const flags = () => ['--workspace', place.files];
const write = (text: string, file: string) => ['run', workspaceAgent, `write "${text}" to ${file}`, ...flags()];
const read = (file: string) => readFileSync(join(place.files, file), 'utf8');
const has = (file: string) => existsSync(join(place.files, file));

describe.skipIf(missing !== undefined)(title, () => {
  test('y runs the call after its preview was shown in colour; words come streaming', async () => {
    const job = ['run', workspaceAgent, mainJob, ...flags()];
    const { code, screen, raw } = await onTerminal(place, job, [[KEYS, 'y']]);
    expect(code).toBe(0);
    expect(screen).toContain('? Run write_file? (The tool may change something.)');
    expect(screen).toContain('todo.md (new file)\n+ # TODO\n');
    expect(screen).toMatch(/✓ write_file path="todo\.md"/);
    expect(screen).toContain('The list is in todo.md.');
    expect(raw).toContain('\u001b[32m+ # TODO\u001b[39m');
    expect(read('todo.md')).toContain('11 matches');
  });

  test('NO_COLOR is honoured', async () => {
    const { raw } = await onTerminal(place, write('a', 'a.txt'), [[KEYS, 'y']], { NO_COLOR: '1' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour is a control sequence
    expect(raw).not.toMatch(/\u001b\[\d+(;\d+)*m/);
  });

  test('a change shows what goes and what comes', async () => {
    const job = ['run', workspaceAgent, 'replace "latin-1" with "utf-8" in shed.yaml', ...flags()];
    const { screen } = await onTerminal(place, job, [[KEYS, 'n']]);
    expect(screen).toMatch(/^- .*latin-1/m);
    expect(screen).toMatch(/^\+ .*utf-8/m);
  });

  test('n denies: 3', async () => {
    const { code, screen } = await onTerminal(place, write('a', 'a.txt'), [[KEYS, 'n']]);
    expect(code).toBe(3);
    expect(screen).toContain('coxswain: denied: write_file');
    expect(has('a.txt')).toBe(false);
  });

  test('? explains, keys that mean nothing explain too, a paste is no answer', async () => {
    const { code, screen } = await onTerminal(place, write('a', 'a.txt'), [
      [KEYS, '?'],
      [KEYS, 'q'],
      [KEYS, 'yes'],
      [KEYS, 'n'],
    ]);
    expect(code).toBe(3);
    expect(screen.match(/ y {2}run it as shown/g)).toHaveLength(3);
  });

  test('what was typed ahead is no answer', async () => {
    const job = ['run', puppet, 'call pay {"amount":5}', '--workspace', place.desk];
    const { code } = await onTerminal(place, job, [
      ['session ', 'y'],
      [KEYS, 'n'],
    ]);
    expect(code).toBe(3);
    expect(existsSync(join(place.desk, 'ledger.txt'))).toBe(false);
  });

  test('e edits the arguments; what does not fit is asked again', async () => {
    const steps: [string, string][] = [
      [KEYS, 'e'],
      ['arguments: ', `${CTRL_U}{"path":"a.txt","content":5}\r`],
      ['E_WRONG_ANSWER', ''],
      [KEYS, 'e'],
      ['arguments: ', `${CTRL_U}{"path":\r`],
      ['that is not JSON', ''],
      [KEYS, 'e'],
      ['arguments: ', `${CTRL_U}{"path":"b.txt","content":"edited\\n"}\r`],
    ];
    // What npm says to a command that it runs where nobody has chosen an editor.
    const ofNpm = { npm_lifecycle_event: 'start', EDITOR: 'vi', VISUAL: '' };
    const { code, screen } = await onTerminal(place, write('a', 'a.txt'), steps, ofNpm);
    expect(code).toBe(0);
    expect(screen).toContain('✓ write_file path="b.txt"');
    expect([has('a.txt'), read('b.txt')]).toEqual([false, 'edited\n']);
  });

  test('INSP-20 e is not offered where arguments cannot be edited, and says why', async () => {
    const job = ['run', puppet, 'call seal {"letter":7}', '--workspace', place.desk];
    const { code, screen } = await onTerminal(place, job, [
      [KEYS, '?'],
      [KEYS, 'e'],
      ['it runs with the arguments that are shown, or not at all', ''],
      [KEYS, 'y'],
    ]);
    expect(code).toBe(0);
    expect(screen).toContain('[y yes · n no · ');
    expect(screen).not.toMatch(/e edit|change the arguments/);
    expect(screen).toContain('sealed 7');
  });

  test('NEW-T7 e opens $EDITOR for long arguments: a text of several lines is one there; what it cannot take is asked again', async () => {
    const editor = join(place.path, 'editor.sh');
    // Breaks the file at the first call, finds it as it was left at the second, and mends it.
    const script = [
      'if grep -q "^{" "$1"; then sed -i "s/^{//; s/^ *two/  2/" "$1"',
      'else cat "$1" > seen.txt; sed -i "1s/^/{/" "$1"; fi',
    ];
    writeFileSync(editor, script.join('\n'));
    const { code, screen } = await onTerminal(
      place,
      write('one\\ntwo\\nthree', 'a.txt'),
      [
        [KEYS, 'e'],
        ['that is not YAML or JSON', ''],
        [KEYS, 'e'],
        ['✓', ''],
      ],
      { EDITOR: `sh ${editor}`, VISUAL: '' },
    );
    expect([code, read('a.txt')]).toEqual([0, 'one\n2\nthree\n']);
    expect(readFileSync(join(place.path, 'seen.txt'), 'utf8')).toBe('path: a.txt\ncontent: |\n  one\n  two\n  three\n');
    expect(screen).not.toContain('arguments: ');
  });

  test('a allows the tool for the rest of the command, also what is asked beside it', async () => {
    const calls = 'call pay {"amount":1} pay {"amount":2} pay {"amount":3}';
    const { code, screen } = await onTerminal(
      place,
      ['run', puppet, '--workspace', place.desk],
      [
        ['> ', `${calls}\r`],
        [KEYS, 'a'],
        ['> ', 'call pay {"amount":4}\r'],
        ['paid 4', ''],
        ['> ', CTRL_D],
      ],
    );
    expect(code).toBe(0);
    expect(screen.split(KEYS)).toHaveLength(2);
    expect(readFileSync(join(place.desk, 'ledger.txt'), 'utf8').trim().split('\n').sort()).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });

  test('what a yes counts for is shown whole before it: arguments that no preview shows, the question of a tool', async () => {
    const memo = `${'m'.repeat(200)} and all the rest`;
    const job = `call pay {"amount":1,"memo":"${memo}"} sign {}`;
    const { code, screen } = await onTerminal(
      place,
      ['run', puppet, job, '--workspace', place.desk],
      [
        [KEYS, 'n'],
        [KEYS, 'y'],
      ],
    );
    expect(code).toBe(3);
    expect(screen.slice(0, screen.indexOf(KEYS))).toMatch(/^ {2}memo: m{200} and all the rest$/m);
    expect(screen).toMatch(/^Sign for 50 people\?$/m);
  });

  test('S3-31 a credential is typed unseen; it is in no line of the screen and in no file', async () => {
    const job = ['run', puppet, 'call mail {}', '--workspace', place.desk];
    const ask = 'not shown (empty: later; "!" alone: no): ';
    for (const [typed, result] of [
      ['sk-secret-key', 'read with 13 characters'],
      ['{"user":"ann","password":"sk-secret-key"}', 'read with user,password'],
      ['!', 'denied'],
    ] as const) {
      const { code, screen, raw } = await onTerminal(place, job, [[ask, `${typed}\r`]]);
      expect([code, screen.includes(result)]).toEqual([typed === '!' ? 3 : 0, true]);
      expect(screen).toContain('? The key of the mail?\n  key mail · scheme api_key\n');
      expect(raw).not.toContain('sk-secret');
    }
    const stored = readdirSync(place.path, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    expect(stored.length).toBeGreaterThan(0);
    for (const { parentPath, name } of stored) {
      expect(readFileSync(join(parentPath, name)).includes('sk-secret')).toBe(false);
    }
  });

  test('l leaves the question open: 4; it is asked again under the same id', async () => {
    const first = await onTerminal(place, write('a', 'a.txt'), [[KEYS, 'l']]);
    expect(first.code).toBe(4);
    expect(first.screen).toContain('input required: Run write_file?');
    const on = ['run', workspaceAgent, ...flags(), '--session', sessionIn(first.screen)];
    const second = await onTerminal(place, on, [
      [KEYS, 'y'],
      ['> ', CTRL_D],
    ]);
    expect(second.code).toBe(0);
    expect(second.screen).toContain('one request is open');
    expect(read('a.txt')).toBe('a\n');
  });

  test('Ctrl-C at a question aborts the turn: 130, and nothing is left open', async () => {
    const { code, screen } = await onTerminal(place, write('a', 'a.txt'), [[KEYS, CTRL_C]]);
    expect(code).toBe(130);
    expect(screen).toContain('coxswain: aborted');
    expect(has('a.txt')).toBe(false);
    expect((await place.run(['approvals', 'list'])).stdout).toBe('');
  });

  test('Ctrl-C while it runs aborts: 130', async () => {
    const { code, screen } = await onTerminal(place, ['run', puppet, 'chatter'], [['la la', CTRL_C]]);
    expect(code).toBe(130);
    expect(screen).toContain('coxswain: aborted');
  });

  test('in a conversation Ctrl-C ends the turn only, and so does a terminal that goes away', async () => {
    const { code, screen } = await onTerminal(
      place,
      ['run', puppet],
      [
        ['> ', 'chatter\r'],
        ['la la', CTRL_C],
        ['aborted', ''],
        ['> ', 'say still here\r'],
        ['\nstill here', ''],
        ['> ', 'chatter\r'],
        // Nobody is left to type: the turn ends, and the command with it.
        ['la la', 'CLOSE'],
      ],
    );
    expect(code).toBe(0);
    expect(screen).toContain('still here');
    const { stdout } = await place.run(['sessions', 'list', '--json']);
    expect(JSON.parse(stdout)).not.toHaveProperty('unfinished', true);
  });

  test.each([
    ['without going on', ['--no-run']],
    ['that goes on by itself', []],
  ])('NEW-T14 an answer from elsewhere %s takes the question away, a message does not', async (_, more) => {
    const job = ['run', puppet, 'call pay {"amount":5}', '--workspace', place.desk];
    const asked = onTerminal(place, job, [
      [KEYS, ''],
      ['answered elsewhere', ''],
    ]);
    const options = ['--agent', puppet, '--workspace', place.desk];
    let open = '';
    while (open === '') open = (await place.run(['approvals', 'list', ...options, '--json'])).stdout;
    const { request } = JSON.parse(open) as { request: { requestId: string; sessionId: string } };
    // NEW-T14: a message from elsewhere cancels nothing of what is asked here.
    const message = ['run', puppet, 'say x', '--session', request.sessionId, '--workspace', place.desk];
    expect(await place.run(message)).toMatchObject({ code: 1, stderr: expect.stringContaining('E_SESSION_BUSY') });
    const other = await place.run(['approvals', 'approve', request.requestId, ...options, ...more]);
    expect(other.code).toBe(0);
    expect((await asked).code).toBe(0);
    expect(readFileSync(join(place.desk, 'ledger.txt'), 'utf8')).toBe('5\n');
  });

  test('escape sequences of a tool or a model reach no terminal', async () => {
    const job = ['run', puppet, 'call pay {"amount":5,"to":"\\u001b[2J\\u202egood"}', '--workspace', place.desk];
    const { raw } = await onTerminal(place, job, [[KEYS, 'y']]);
    expect(raw).not.toContain('\u001b[2J');
    expect(raw).not.toContain('\u202e');
    const said = await onTerminal(place, ['run', puppet, 'say \u001b[2Jx'], []);
    expect(said.raw).not.toContain('\u001b[2J');
  });
});
