import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textOfParts } from '../../src/contracts/index.ts';
import {
  eventsOf,
  mainJob,
  noTerminal,
  onTerminal,
  Place,
  puppet,
  requestIn,
  sessionIn,
  workspaceAgent,
} from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const missing = noTerminal();
const title = missing === undefined ? 'a conversation' : `a conversation (skipped: ${missing})`;
const KEYS = '? help]';
const CTRL_C = '\u0003';
const ALT_ENTER = '\u001b\r';
const UP = '\u001b[A';
const pasted = (text: string) => `\u001b[200~${text}\u001b[201~`;
/** The prompt, as it is drawn: with nothing typed. */
const PROMPT = '> \u001b[3G';

/** What people said in a session. */
async function messagesOf(id: string): Promise<string[]> {
  const { stdout } = await place.run(['sessions', 'show', id, '--json']);
  return eventsOf(stdout).flatMap((event) =>
    event.type === 'message' && event.role === 'user' ? [textOfParts(event.content)] : [],
  );
}

describe.skipIf(missing !== undefined)(title, () => {
  test('NEW-T2 a paste is one message, in brackets or not; lines may be added; NEW-T1 Ctrl-C stops, clears, warns, leaves', async () => {
    const { code, screen } = await onTerminal(
      place,
      ['run', puppet],
      [
        [PROMPT, pasted('say one\rtwo\r\nthree\r')],
        ['three', '\r'],
        ['three\r\n', ''],
        [PROMPT, 'say a\rb\rc'],
        ['\nc', '\r'],
        [PROMPT, `say x${ALT_ENTER}y\\`],
        ['y\\', '\r'],
        ['y', 'z\r'],
        [PROMPT, `say ${pasted('line\r'.repeat(40))}!`],
        ['[text 1: 40 lines, 199 characters]', ''],
        ['!', '\r'],
        [PROMPT, 'chatter\r'],
        ['la la', 'say not yet'],
        ['not yet', '\r'],
        ['queued until the turn is over: say not yet', CTRL_C],
        ['back in the line, not sent', ''],
        ['say not yet', '\r'],
        ['not yet\r\n', ''],
        [PROMPT, 'half a message'],
        ['half a message', CTRL_C],
        ['cleared; Ctrl-Y brings it back', ''],
        [PROMPT, CTRL_C],
        ['once more leaves', CTRL_C],
      ],
    );
    expect(code).toBe(130);
    const session = sessionIn(screen);
    expect(await messagesOf(session)).toEqual([
      'say one\ntwo\nthree',
      'say a\nb\nc',
      'say x\ny\nz',
      `say ${'line\n'.repeat(40).trimEnd()}!`,
      'chatter',
      'say not yet',
    ]);
    expect(screen).toMatch(new RegExp(`^come back: .* run .*puppet\\.js --session ${session}$`, 'm'));
  });

  test('NEW-T3 a question that is left stays, is shown and answered later; NEW-T4 commands; NEW-T5 the greeting', async () => {
    const { code, screen } = await onTerminal(
      place,
      ['run', workspaceAgent, '--workspace', place.files],
      [
        [PROMPT, '/hlep\r'],
        ['there is no command /hlep (did you mean /help?)', '/help\r'],
        ['/usage', '/tools\r'],
        ['write_file', `${mainJob}\r`],
        [KEYS, pasted('and then?')],
        [KEYS, 'l'],
        ['open', ''],
        ['and then?', '\r'],
        ['the message cancels it', 'n'],
        ['and then?', CTRL_C],
        ['cleared', '\r'],
        [KEYS, 'l'],
        [PROMPT, '/approve\r'],
        ['/approve 1 once more approves it', ''],
        [PROMPT, '/approve 1\r'],
        ['The list is in todo.md', ''],
        [PROMPT, '/usage\r'],
        ['tokens out', '/clear\r'],
        ['begins a new session', 'help\r'],
        ['follows fixed rules', 'list the files'],
        ['list the files', '\r'],
        ['queued until', ''],
        ['✓', ''],
        [PROMPT, '/sessions\r'],
        ['/resume N', '/resume\r'],
        ['resumed, ', ''],
        [PROMPT, '/exit\r'],
      ],
    );
    expect(code).toBe(0);
    expect(screen.split('\n').slice(0, 5)).toEqual([
      'You talk to workspace: Looks after the files of one folder.',
      expect.stringMatching(/^folder .*files · model offline-rules \(no key is set\)$/),
      `Try: ${mainJob}`,
      '/help for commands · Ctrl-C stops a turn · Ctrl-D leaves',
      '> /hlep',
    ]);
    expect(readFileSync(join(place.files, 'todo.md'), 'utf8')).toContain('11 matches');
    expect(screen).toContain(`\n> ${mainJob}\nFound 11 matches`);
    const [first = '', second = ''] = [...screen.matchAll(/^session (\S+)/gm)].map(([, id]) => id);
    expect(await messagesOf(first)).toEqual([mainJob]);
    expect(await messagesOf(second)).toEqual(['help', 'list the files']);
  });

  test('NEW-T10 --continue takes the newest session and shows where it stands; NEW-T11 history outlives the command', async () => {
    const first = await onTerminal(
      place,
      ['run', puppet],
      [
        [PROMPT, 'say first words\r'],
        ['first words\r\n', ''],
        [PROMPT, '/exit\r'],
      ],
    );
    const second = await onTerminal(
      place,
      ['run', puppet, '--continue'],
      [
        [PROMPT, `${UP}${UP}`],
        ['say first words', '\r'],
        ['first words\r\n', ''],
        [PROMPT, '/us'],
        ['/us', '\t'],
        ['age', '\r'],
        ['2 model calls', 'call sign {} mail {}\r'],
        [KEYS, 'l'],
        ['empty: later', '\r'],
        ['Enter asks again', '/approve 2\r'],
        ['more than an approval', '/approve 1\r'],
        ['once more approves it', ''],
        [PROMPT, '/approve 1\r'],
        ['empty: later', '!\r'],
        ['signed', '/mode plan\r'],
        ['mode plan', '/mode yolo\r'],
        ['there is no mode yolo', '/model gpt-5\r'],
        ['model gpt-5 needs OPENAI_API_KEY', 'call pay {"amount":1}\r'],
        ['denied: pay', ''],
        [PROMPT, 'half a thought'],
        ['half a thought', 'SIGTERM'],
        ['not sent, but in the history: half a thought', ''],
        ['come back: ', ''],
      ],
    );
    expect([first.code, second.code]).toEqual([0, 130]);
    expect(second.screen).toContain('resumed, 2 messages\n> say first words\nfirst words\n');
    const said = await messagesOf(sessionIn(first.screen));
    const calls = ['call sign {} mail {}', 'call pay {"amount":1}'];
    expect(said).toEqual(['say first words', 'say first words', ...calls]);
    expect(existsSync(join(place.path, '.coxswain', 'history'))).toBe(true);
  });
});

test('NEW-T6 without prompt and terminal the example is run, and what it asks is said with how to answer', async () => {
  const { code, stderr } = await place.run(['run', workspaceAgent, '--demo', '--workspace', place.files]);
  expect(code).toBe(4);
  expect(stderr).toContain(`this runs an example, "${mainJob}"`);
  expect(stderr).toMatch(/^ {2}approve {2}npx coxswain approvals approve /m);
  const answer = ['approvals', 'approve', requestIn(stderr), '--agent', workspaceAgent, '--workspace', place.files];
  expect((await place.run(answer)).code).toBe(0);
  expect(existsSync(join(place.files, 'todo.md'))).toBe(true);
  const plain = await place.run(['run', puppet]);
  expect([plain.code, plain.stderr]).toEqual([
    2,
    expect.stringMatching(/E_USAGE there is no prompt: .*run .*puppet\.js "/),
  ]);
});
