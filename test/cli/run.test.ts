import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkStream } from '../../src/contracts/index.ts';
import { eventsOf, found, mainJob, Place, puppet, requestIn, sessionIn, workspaceAgent } from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const job = (...flags: string[]) => ['run', workspaceAgent, mainJob, '--workspace', place.files, ...flags];
const todo = () => join(place.files, 'todo.md');
const pull = (words: string, ...flags: string[]) => ['run', puppet, words, '--workspace', place.desk, ...flags];

describe('the main job', () => {
  test('with --approve allow writes the list; --json gives durable events and nothing else', async () => {
    const { code, stdout, stderr } = await place.run(job('--json', '--approve', 'allow'));
    expect(stderr).toMatch(/^model offline-rules: [^\n]+\nsession \S+\n$/);
    expect(code).toBe(0);
    const events = eventsOf(stdout);
    expect(events.every((event) => event.cursor !== undefined)).toBe(true);
    const seqs = [...new Set(events.map((event) => event.seq))];
    // What a question was put with is in the log, and is no event of its own.
    expect(seqs).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    const decisions = events.filter((event) => event.type === 'elicitation_response');
    expect(decisions).toMatchObject([{ action: 'accept', by: 'cli' }]);
    expect(readFileSync(todo(), 'utf8')).toContain('11 matches in 10 files.');
  });

  test('--stream-json gives a whole stream that keeps the grammar', async () => {
    const { code, stdout } = await place.run(job('--stream-json', '--approve', 'allow'));
    expect(code).toBe(0);
    const events = eventsOf(stdout);
    expect(checkStream(events)).toEqual([]);
    expect(events.some((event) => event.type === 'message' && event.partial)).toBe(true);
  });

  test('as text: the answer on stdout, the calls on stderr', async () => {
    const { code, stdout, stderr } = await place.run(job('--approve', 'allow'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Found 11 matches of "TODO" in 10 files:\n(- \S+: \d\n){10}\nThe list is in todo\.md\.\n$/);
    expect(stderr).toMatch(/✓ search_text query="TODO"/);
    expect(stderr).toMatch(/✓ write_file path="todo\.md".* · Created todo\.md/);
    expect(stdout + stderr).not.toContain('\u001b');
  });

  test('with --approve deny writes nothing and exits with 3', async () => {
    const { code, stdout, stderr } = await place.run(job('--approve', 'deny'));
    expect(code).toBe(3);
    expect(stdout).toContain('todo.md was not written');
    expect(stderr).toContain('coxswain: denied: write_file');
    expect(existsSync(todo())).toBe(false);
  });

  test('with nobody to ask stays open in a durable store; the printed command answers it, once', async () => {
    const first = await place.run(job());
    expect(first.code).toBe(4);
    expect(existsSync(todo())).toBe(false);
    const session = sessionIn(first.stderr);
    const request = requestIn(first.stderr).replaceAll("'", '');
    expect(first.stderr).toContain('coxswain: input required: Run write_file?');

    const list = ['approvals', 'list', '--agent', workspaceAgent, '--workspace', place.files];
    const listed = await place.run(list);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toContain(request);
    expect(listed.stdout).toContain('todo.md (new file)');
    expect(listed.stdout).toContain(`session ${session}`);

    const again = await place.run(['run', workspaceAgent, '--workspace', place.files, '--session', session]);
    expect(again.code).toBe(4);
    expect(requestIn(again.stderr).replaceAll("'", '')).toBe(request);

    const command = found(first.stderr, /^ {2}approve {2}npx coxswain (.+)$/m);
    const words = command.split(' ').map((word) => word.replaceAll("'", ''));
    const approved = await place.run(words);
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain('The list is in todo.md.');
    const written = readFileSync(todo(), 'utf8');

    const twice = await place.run(words);
    expect(twice.code).toBe(1);
    expect(twice.stderr).toContain('coxswain: E_UNKNOWN_REQUEST');
    expect(readFileSync(todo(), 'utf8')).toBe(written);
    expect((await place.run(list)).stderr).toContain('nothing waits for an answer');

    const done = await place.run(['run', workspaceAgent, '--workspace', place.files, '--session', session]);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain('nothing to do: the last turn is complete');
  });

  test('with nobody to ask and a store in memory is denied', async () => {
    const { code, stderr } = await place.run(job('--store', 'memory:'));
    expect(code).toBe(3);
    expect(stderr).toContain('there is no terminal to ask at, and memory: keeps no question');
    expect(existsSync(todo())).toBe(false);
    expect(existsSync(join(place.path, '.coxswain'))).toBe(false);
  });

  test('--mode plan denies, --mode auto_edit allows', async () => {
    expect((await place.run(job('--mode', 'plan'))).code).toBe(3);
    expect(existsSync(todo())).toBe(false);
    expect((await place.run(job('--mode', 'auto_edit'))).code).toBe(0);
    expect(existsSync(todo())).toBe(true);
  });

  test('--policy decides, and an error in it names the line', async () => {
    writeFileSync(join(place.path, 'deny.yaml'), 'version: 1\nrules:\n  - tool: write_*\n    outcome: deny\n');
    expect((await place.run(job('--policy', 'deny.yaml', '--approve', 'allow'))).code).toBe(3);
    writeFileSync(join(place.path, 'broken.yaml'), 'version: 1\nrules:\n  - tool: write_*\n    outcome: perhaps\n');
    const { code, stderr } = await place.run(job('--policy', 'broken.yaml'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^coxswain: E_POLICY_FILE broken\.yaml:4: /);
    expect((await place.run(job('--policy', 'nowhere.yaml'))).stderr).toContain('E_POLICY_FILE --policy: nowhere.yaml');
  });
});

describe('the data folder', () => {
  test('holds store and working copy, and is ignored by version control', async () => {
    const { code, stderr } = await place.run(['run', workspaceAgent, 'list files']);
    expect(code).toBe(0);
    expect(stderr).toContain('folder .coxswain/workspace, a copy of examples/workspace/files');
    expect(readFileSync(join(place.path, '.coxswain', '.gitignore'), 'utf8')).toBe('*\n');
    expect(existsSync(join(place.path, '.coxswain', 'coxswain.db'))).toBe(true);
    const again = await place.run(['run', workspaceAgent, 'list files']);
    expect(again.stderr).toContain('folder .coxswain/workspace\n');
  });
});

describe('the prompt', () => {
  test('is read from a pipe', async () => {
    const { code, stdout } = await place.run(['run', puppet], { input: 'say from a pipe\n' });
    expect([code, stdout]).toEqual([0, 'from a pipe\n']);
  });

  test('may be several words', async () => {
    expect((await place.run(['run', puppet, 'say', 'two', 'words'])).stdout).toBe('two words\n');
  });

  test('must be there if nobody sits at a terminal', async () => {
    const { code, stderr } = await place.run(['run', puppet]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^coxswain: E_USAGE there is no prompt: .*\n$/);
    expect((await place.run(['run', puppet], { input: '\n' })).code).toBe(2);
  });
});

describe('how a run ends', () => {
  test('failure: 1, in one line', async () => {
    const { code, stderr } = await place.run(pull('fail'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/coxswain: E_\w+ .*the model broke/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('limits: 5, and a later command goes on', async () => {
    const { code, stderr } = await place.run(pull('call look {}', '--max-steps', '1'));
    expect(code).toBe(5);
    expect(stderr).toContain('E_MAX_LLM_CALLS');
    const on = await place.run(['run', puppet, '--workspace', place.desk, '--session', sessionIn(stderr)]);
    expect(on.stderr).toContain('resuming the turn that ended: max_turns');
    expect([on.code, on.stdout]).toEqual([0, '{"content":"seen"}\n']);
    expect((await place.run(pull('call look {}', '--max-tokens', '12'))).code).toBe(5);
    expect((await place.run(pull('hang', '--timeout', '0.3s'))).code).toBe(5);
  });

  test('--max-usd needs a price', async () => {
    const { code, stderr, stdout } = await place.run(pull('say hello', '--max-usd', '1'));
    expect(code).toBe(1);
    expect(stderr).toContain('coxswain: E_NO_PRICE');
    expect(stdout).toBe('');
    expect((await place.run(job('--max-usd', '1', '--approve', 'allow'))).code).toBe(0);
  });

  test('refusal: 6', async () => {
    const { code, stderr } = await place.run(pull('refuse no'));
    expect(code).toBe(6);
    expect(stderr).toMatch(/refus/);
  });

  test('IOP-M1 an answer that was cut at the output limit: 7', async () => {
    const { code, stderr, stdout } = await place.run(pull('cut half of it'));
    expect(code).toBe(7);
    expect(stdout).toContain('half of it');
    expect(stderr).toContain("the answer was cut at the model's output limit");
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s once: aborted in the log, 130', async (signal) => {
    const running = place.start(pull('hang', '--stream-json'));
    await running.shows('hanging');
    running.child.kill(signal);
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    const events = eventsOf(stdout);
    expect(checkStream(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'aborted' });
    expect(events.at(-1)?.cursor).toBeDefined();
  });

  test('a second SIGINT ends at once what does not end by itself', async () => {
    const running = place.start(pull('hang', '--json'), { env: { PUPPET_NEVER_CLOSES: '1' } });
    await running.shows('"text":"hang"');
    running.child.kill('SIGINT');
    await running.shows('stream_end');
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });

  test('a reader that goes away is no crash', async () => {
    for (const flags of [['--stream-json'], []]) {
      const running = place.start(pull('chatter', ...flags));
      await running.shows('la ');
      running.child.stdout?.destroy();
      const { code, stderr } = await running.ended;
      expect(code).toBe(130);
      expect(stderr).not.toMatch(/^\s+at |EPIPE/m);
      const shown = await place.run(['sessions', 'show', sessionIn(stderr), '--json']);
      expect(eventsOf(shown.stdout).at(-1)).toMatchObject({ type: 'stream_end', reason: 'aborted' });
    }
  });
});

describe('--output-schema', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const say = (text: string) => pull(`say ${text}`, '--output-schema', 'schema.json');

  test('passes an answer that fits and fails one that does not', async () => {
    writeFileSync(join(place.path, 'schema.json'), JSON.stringify(schema));
    expect(await place.run(say('{"a": 1}'))).toMatchObject({ code: 0, stdout: '{"a": 1}\n' });
    const misfit = await place.run(say('{"a": "x"}'));
    expect(misfit.code).toBe(1);
    expect(misfit.stderr).toContain('the answer does not fit schema.json: /a must be number');
    const prose = await place.run(say('well, 1'));
    expect(prose.code).toBe(1);
    expect(prose.stderr).toContain('it is not JSON');
  });

  test('refuses a file that is no schema before anything runs', async () => {
    expect((await place.run(say('1'))).code).toBe(2);
    writeFileSync(join(place.path, 'schema.json'), '{"type": "nonsense"}');
    const { code, stderr } = await place.run(say('1'));
    expect(code).toBe(2);
    expect(stderr).not.toContain('session');
  });
});

test.each([
  ['ask', [], 'cancel'],
  ['ask', ['--store', 'memory:'], 'cancel'],
  ['deny', [], 'cancel'],
  ['allow', [], 'accept'],
] as const)(
  'what a call asks while it runs, with nobody here: --approve %s %j hears %s',
  async (approve, more, heard) => {
    const { code, stdout } = await place.run(pull('call wonder {}', '--approve', approve, ...more));
    expect([code, stdout]).toEqual([0, `{"content":"${heard}"}\n`]);
  },
);

test('--approve allow says no yes to a running call whose approvers policy names', async () => {
  const file = join(place.path, 'policy.yaml');
  writeFileSync(file, 'version: 1\nrules:\n  - tool: wonder\n    outcome: ask\n    approvers: { roles: [boss] }\n');
  const policy = ['--policy', file];
  const { code, stderr } = await place.run(pull('call wonder {}', '--approve', 'allow', ...policy));
  expect(code).toBe(4);
  const who = ['--by', 'bert', '--role', 'boss', '--agent', puppet];
  expect((await place.run(['approvals', 'approve', requestIn(stderr), '--no-run', ...who, ...policy])).code).toBe(0);
  const on = ['--workspace', place.desk, '--session', sessionIn(stderr), '--approve', 'allow', ...policy];
  expect((await place.run(['run', puppet, ...on])).stdout).toBe('{"content":"cancel"}\n');
});
