import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planFor, rules, rulesAsMarkdown } from '../../examples/workspace/offline/rules.ts';
import { offlineModel } from '../../examples/workspace/offline-model.ts';
import { workspaceTools } from '../../examples/workspace/tools.ts';
import type {
  Content,
  ContentPart,
  FunctionCallPart,
  FunctionResponsePart,
  ToolCallContext,
  ToolDescriptor,
} from '../../src/contracts/index.ts';
import { textOfParts } from '../../src/contracts/index.ts';
import type { ModelRequest, ModelResponse } from '../../src/runtime/model/model.ts';

const example = join(import.meta.dirname, '../../examples/workspace');
const allTools = ['list_files', 'read_file', 'search_text', 'write_file'];

function request(contents: Content[], tools = allTools): ModelRequest {
  const described = tools.map((name): [string, ToolDescriptor] => [name, { name, description: '', inputSchema: {} }]);
  return {
    model: 'offline-rules',
    systemInstruction: 'You look after a folder.',
    contents,
    config: {},
    tools: new Map(described),
    agent: 'workspace',
  };
}

async function frames(asked: ModelRequest, stream: boolean, signal = new AbortController().signal) {
  const all: ModelResponse[] = [];
  for await (const frame of offlineModel().generate(asked, { stream, signal })) all.push(frame);
  return all;
}

async function next(contents: Content[], tools?: string[]): Promise<ContentPart[]> {
  const all = await frames(request(contents, tools), false);
  expect(all).toHaveLength(1);
  return all[0]?.content?.parts ?? [];
}

const say = async (contents: Content[], tools?: string[]) => textOfParts(await next(contents, tools));
const user = (text: string): Content => ({ role: 'user', parts: [{ type: 'text', text }] });
const model = (text: string): Content => ({ role: 'model', parts: [{ type: 'text', text }] });
const called = (id: string, name: string, args: Record<string, unknown> = {}): Content => ({
  role: 'model',
  parts: [{ type: 'function_call', id, name, args }],
});

function answered(
  id: string,
  name: string,
  response: string | Record<string, unknown>,
  rest: Partial<FunctionResponsePart> = {},
): Content {
  const value = typeof response === 'string' ? { content: response } : response;
  return { role: 'user', parts: [{ type: 'function_response', id, name, response: value, ...rest }] };
}

const calls = (parts: ContentPart[]) =>
  parts.flatMap((part) => (part.type === 'function_call' ? [{ name: part.name, args: part.args }] : []));

const found = 'a.ts:3: // TODO: one\na.ts:9: x(); // TODO two\nb/c.md:1: <!-- TODO `three` -->\n[3 matches in 2 files]';
const findAndWrite = 'find every TODO and write them to todo.md';

describe('find and write', () => {
  const searched = [user(findAndWrite), called('1', 'search_text'), answered('1', 'search_text', found)];

  test('searches, writes a tidy list, sums up', async () => {
    expect(calls(await next([user(findAndWrite)]))).toEqual([{ name: 'search_text', args: { query: 'TODO' } }]);
    const content = [
      '# TODO\n',
      '3 matches in 2 files.\n',
      '## a.ts\n',
      '- line 3: `TODO: one`',
      '- line 9: `x(); // TODO two`\n',
      '## b/c.md\n',
      '- line 1: `` TODO `three` ``\n',
    ].join('\n');
    expect(calls(await next(searched))).toEqual([{ name: 'write_file', args: { path: 'todo.md', content } }]);
    const written = [...searched, called('2', 'write_file'), answered('2', 'write_file', 'Created todo.md')];
    expect(await say(written)).toBe(
      'Found 3 matches of "TODO" in 2 files:\n- a.ts: 2\n- b/c.md: 1\n\nThe list is in todo.md.',
    );
  });

  test.each([
    ['denied', 'not today', 'write_file was denied (not today). todo.md was not written.'],
    ['denied', 'denied', 'write_file was denied. todo.md was not written.'],
    ['cancelled', 'a new message came', 'cancelled before it ran (a new message came). todo.md was not written.'],
    ['interrupted', 'aborted', 'Whether todo.md was written is unknown'],
    ['timeout', 'too slow', 'Whether todo.md was written is unknown'],
    ['failed', 'disk full.', 'write_file failed: disk full. todo.md was not written.'],
    [undefined, 'disk full', 'write_file failed: disk full. todo.md was not written.'],
  ])('tells what was found and what was not done: %s', async (errorType, error, expected) => {
    const rest = { isError: true, ...(errorType === undefined ? {} : { errorType }) };
    const parts = await next([...searched, called('2', 'write_file'), answered('2', 'write_file', { error }, rest)]);
    expect(calls(parts)).toEqual([]);
    expect(textOfParts(parts)).toContain('- a.ts: 2');
    expect(textOfParts(parts)).toContain(expected);
  });

  test('stops when the search fails', async () => {
    const failed = answered('1', 'search_text', { error: 'no such folder' }, { isError: true });
    const parts = await next([user(findAndWrite), called('1', 'search_text'), failed]);
    expect(parts).toEqual([{ type: 'text', text: 'search_text failed: no such folder. I stopped there.' }]);
  });

  test('writes nothing when there is nothing, or only the list of an earlier run', async () => {
    for (const none of ['[no match in 4 files]', 'todo.md:1: # TODO\n[1 match in 1 file]']) {
      const contents = [user(findAndWrite), called('1', 'search_text'), answered('1', 'search_text', none)];
      expect(await say(contents)).toContain('I did not write todo.md');
    }
  });

  test('says that the list is not complete', async () => {
    const capped = found.replace('[3 matches in 2 files]', '[first 3 of 80 matches in 9 files: narrow it]');
    const contents = [user(findAndWrite), called('1', 'search_text'), answered('1', 'search_text', capped)];
    const [write] = calls(await next(contents));
    expect(write?.args.content).toContain('3 of about 80 matches');
  });
});

describe('the turn', () => {
  test('takes words that come while it runs as a further request', async () => {
    const contents = [
      user('how many files are there?'),
      called('1', 'list_files'),
      answered('1', 'list_files', 'a\nb\n[2 files]'),
      user('also find every TODO'),
    ];
    expect(calls(await next(contents))).toEqual([{ name: 'search_text', args: { query: 'TODO' } }]);
    const done = [...contents, called('2', 'search_text'), answered('2', 'search_text', '[no match in 2 files]')];
    expect(await say(done)).toBe('There are 2 files in the workspace.\n\nNo line contains "TODO".');
  });

  test('goes on with the first request when words come in the middle of it', async () => {
    const contents = [
      user(findAndWrite),
      called('1', 'search_text'),
      answered('1', 'search_text', found),
      user('and list files'),
    ];
    expect(calls(await next(contents))[0]?.name).toBe('write_file');
    contents.push(called('2', 'write_file'), answered('2', 'write_file', {}));
    expect(calls(await next(contents))).toEqual([{ name: 'list_files', args: {} }]);
  });

  test('starts anew after an answer in words', async () => {
    const contents = [
      user('how many files are there?'),
      called('1', 'list_files'),
      answered('1', 'list_files', '[0 files]'),
      model('There are 0 files in the workspace.'),
      user('how many files are there?'),
    ];
    expect(calls(await next(contents))).toEqual([{ name: 'list_files', args: {} }]);
  });

  test('goes on after words that were cut off', async () => {
    const contents = [
      user('how many files are there?'),
      model('There'),
      called('1', 'list_files'),
      answered('1', 'list_files', '[7 files]'),
    ];
    expect(await say(contents)).toBe('There are 7 files in the workspace.');
  });

  test('passes over rounds that it did not ask for', async () => {
    const contents = [
      user('how many files are there?'),
      called('1', 'weather'),
      answered('1', 'weather', 'rain'),
      called('2', 'list_files'),
      answered('2', 'list_files', '[7 files]'),
    ];
    expect(await say(contents)).toBe('There are 7 files in the workspace.');
  });

  test.each<[string, Record<string, unknown>, Partial<FunctionResponsePart>]>([
    ['a status', { status: 'pending', message: 'waiting for approval' }, {}],
    ['a flag', { pending: true, message: 'waiting for approval' }, {}],
    ['a mark', { content: 'waiting for approval' }, { _meta: { placeholder: true } }],
  ])('says so when the outcome is not known yet: %s', async (_, response, rest) => {
    const contents = [
      user('write "x" to a.txt'),
      called('1', 'write_file'),
      answered('1', 'write_file', response, rest),
      user('how many files are there?'),
      called('2', 'list_files'),
      answered('2', 'list_files', '[1 file]'),
    ];
    expect(await say(contents)).toBe(
      'write_file has no outcome yet (waiting for approval). Whether a.txt will be written is still open.\n\n' +
        'There is 1 file in the workspace.',
    );
  });

  test('passes on the outcome of a call that was left open', async () => {
    const news = 'The result of the earlier call c1 to tool write_file has come:';
    expect(await say([model('…'), user(`${news} {"content":"Created a.txt."}`)])).toBe(
      'write_file, which was still open, has come back: Created a.txt.',
    );
    expect(await say([model('…'), user(`${news} {"error":"expired"}`)])).toBe(
      'write_file, which was still open, did not work: expired',
    );
    expect(await say([user(`${news} {x}`)])).toContain('{x}');
  });

  test('stops at an answer that it cannot read', async () => {
    const contents = [user('read a.txt'), called('1', 'read_file'), answered('1', 'read_file', { kept: 'elsewhere' })];
    expect(await say(contents)).toContain('read_file answered in a way that I cannot read: {"kept":"elsewhere"}');
  });

  test('reads answers however they are wrapped', async () => {
    const parts = [{ type: 'text', text: '[7 files]' }] as const;
    const wrapped = [{ content: '[7 files]' }, { content: parts }, { result: '[7 files]' }, { output: '[7 files]' }];
    for (const response of wrapped) {
      const contents = [user('how many files?'), called('1', 'list_files'), answered('1', 'list_files', response)];
      expect(await say(contents)).toContain('7 files');
    }
    const beside = answered('1', 'list_files', {}, { content: [...parts] });
    expect(await say([user('how many files?'), called('1', 'list_files'), beside])).toContain('7 files');
  });

  test('says which tool it is not given', async () => {
    expect(await say([user('list files')], [])).toBe('That needs the tool list_files, which I am not given.');
    const contents = [user(findAndWrite), called('1', 'search_text'), answered('1', 'search_text', found)];
    const text = await say(contents, ['search_text']);
    expect(text).toContain('- a.ts: 2');
    expect(text).toContain('write_file, which I am not given. todo.md was not written.');
  });
});

describe('requests', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['Please find all TODOs.', 'search_text', { query: 'TODO' }],
    [
      'could you search for "milk in coffee" in notes?',
      'search_text',
      { query: 'milk in coffee', path: 'notes', ignoreCase: true },
    ],
    ['find every fixme in the workspace', 'search_text', { query: 'fixme', ignoreCase: true }],
    ['search for /TODO|FIXME/', 'search_text', { query: 'TODO|FIXME', regex: true }],
    ['look for /a b/i in src/x.ts', 'search_text', { query: 'a b', regex: true, ignoreCase: true, path: 'src/x.ts' }],
    ['find every TODO in notes and save the list to out/t.md', 'search_text', { query: 'TODO', path: 'notes' }],
    ['list files', 'list_files', {}],
    ['List all the files in the workspace', 'list_files', {}],
    ['list files in "my notes"', 'list_files', { path: 'my notes' }],
    ['show README.md', 'read_file', { path: 'README.md' }],
    ["read 'a b.txt' from line 12", 'read_file', { path: 'a b.txt', offset: 12 }],
    ['how many lines does a.md have?', 'read_file', { path: 'a.md', limit: 1 }],
    ['write "a\\nb" to x/y.txt', 'write_file', { path: 'x/y.txt', content: 'a\nb\n' }],
    ['write "say "hi" to all" to x', 'write_file', { path: 'x', content: 'say "hi" to all\n' }],
    ['append "x" to y for me, please', 'write_file', { path: 'y', content: 'x\n', append: true }],
    ['summarize a.md', 'read_file', { path: 'a.md', limit: 1000 }],
    ['describe the workspace', 'list_files', {}],
  ])('%s', async (text, name, args) => {
    expect(calls(await next([user(text)]))).toEqual([{ name, args }]);
  });

  test.each(['', '  ', 'hello', 'Hi!', 'help', 'What can you do?'])('introduces itself: %j', async (text) => {
    const told = await say([user(text)]);
    expect(told).toContain('no language model');
    for (const { example: one } of rules) expect(told).toContain(one);
  });

  test.each([
    'make me a sandwich',
    'finder',
    'delete README.md',
    'replace "" with "x" in a',
    'what is love? '.repeat(2000),
  ])('admits that it does not understand: %.30s', async (text) => {
    const told = await say([user(text)]);
    expect(told).toMatch(/do not understand|too long for me/);
    expect(told).toContain('no language model');
    expect(told.length).toBeLessThan(3000);
  });

  test('each example is understood by its own rule', () => {
    for (const rule of rules) expect(rules.find(({ match }) => match.test(rule.example))).toBe(rule);
  });

  test('the README lists the rules as they are', () => {
    expect(readFileSync(join(example, 'README.md'), 'utf8')).toContain(`\n${rulesAsMarkdown()}\n\n`);
  });

  test('no request keeps it busy', () => {
    for (const start of ['replace "', 'find ', 'write "', 'list ', 'read ', 'please ', '']) {
      for (const unit of [' a', '" with "', ' in ', '"', '" to ', '/ in /', '! ', ' please']) {
        expect(planFor(start + unit.repeat(19_000 / unit.length))).toBeDefined();
      }
    }
  });
});

describe('streaming', () => {
  const histories: [string, Content[]][] = [
    ['words', [user('help')]],
    ['calls', [user('list files')]],
    [
      'code',
      [user('read a'), called('1', 'read_file'), answered('1', 'read_file', 'a: lines 1-2 of 2\n1\t  x\n2\t\ty')],
    ],
  ];

  test.each(histories)('the last frame is the same: %s', async (_, contents) => {
    const streamed = await frames(request(contents), true);
    const [whole] = await frames(request(contents), false);
    expect(streamed.at(-1)).toEqual(whole);
    const partial = streamed.slice(0, -1);
    expect(partial.every((frame) => frame.partial === true)).toBe(true);
    expect(whole?.partial).toBeUndefined();
    expect(partial.map((frame) => textOfParts(frame.content?.parts ?? [])).join('')).toBe(
      textOfParts(whole?.content?.parts ?? []),
    );
  });

  test('counts words as usage', async () => {
    const [final] = await frames(request([user('how many files?')]), false);
    expect(final?.usage?.inputTokens).toBe(8);
    expect(final?.usage?.outputTokens).toBeGreaterThan(0);
    expect(final?.finishReason).toBe('tool_calls');
  });

  test('ends when it is told to', async () => {
    const controller = new AbortController();
    const seen: ModelResponse[] = [];
    const run = async () => {
      for await (const frame of offlineModel().generate(request([user('help')]), {
        stream: true,
        signal: controller.signal,
      })) {
        seen.push(frame);
        if (seen.length === 3) controller.abort(new Error('enough'));
      }
    };
    await expect(run()).rejects.toThrow('enough');
    expect(seen).toHaveLength(3);
    await expect(frames(request([user('help')]), false, AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
  });

  test('ends during a wait', async () => {
    const controller = new AbortController();
    const slow = offlineModel({ delayMs: 600_000 });
    const first = slow.generate(request([user('help')]), { stream: true, signal: controller.signal });
    const pending = first[Symbol.asyncIterator]().next();
    controller.abort();
    await expect(pending).rejects.toThrow();
  });
});

describe('with the real tools', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'offline-'));
    cpSync(join(example, 'files'), root, { recursive: true });
    rmSync(join(root, 'todo.md'), { force: true });
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  async function answerTo({ id, name, args }: FunctionCallPart): Promise<ContentPart> {
    const tool = workspaceTools(root).find((one) => one.name === name);
    try {
      const value: unknown = await tool?.execute?.(args, { signal: new AbortController().signal } as ToolCallContext);
      const response = typeof value === 'string' ? { content: value } : (value as Record<string, unknown>);
      return { type: 'function_response', id, name, response };
    } catch (error) {
      const response = { error: (error as Error).message };
      return { type: 'function_response', id, name, response, isError: true, errorType: 'failed' };
    }
  }

  /** Runs a turn to its end. */
  async function turn(text: string): Promise<{ text: string; rounds: number }> {
    const contents = [user(text)];
    for (let rounds = 0; rounds < 30; rounds++) {
      const parts = await next(contents);
      const asked = parts
        .filter((part) => part.type === 'function_call')
        .map((part, index) => ({ ...part, id: `${rounds}.${index}` }));
      if (asked.length === 0) return { text: textOfParts(parts), rounds };
      contents.push({ role: 'model', parts: asked });
      contents.push({ role: 'user', parts: await Promise.all(asked.map(answerTo)) });
    }
    throw new Error('no end');
  }

  const stored = (path: string) => readFileSync(join(root, path), 'utf8');

  test('every example works', async () => {
    for (const rule of rules) expect((await turn(rule.example)).text, rule.example).not.toMatch(/failed|stopped/);
  });

  test('finds and writes the same list however often it is asked', async () => {
    const first = await turn(findAndWrite);
    const list = stored('todo.md');
    expect(first.rounds).toBe(2);
    expect(first.text).toMatch(/^Found \d+ matches of "TODO" in \d+ files:.*The list is in todo\.md\.$/s);
    expect(list).toContain('## booking/slots.py');
    expect(list.match(/^- line /gm)?.length).toBe(Number(/Found (\d+)/.exec(first.text)?.[1]));
    expect(await turn(findAndWrite)).toEqual(first);
    expect(stored('todo.md')).toBe(list);
  });

  test('reads a long file page by page and whole', async () => {
    const page = (await turn('read data/logbook.txt')).text;
    expect(page).toContain('lines 1 to 200 of 397');
    expect(page).toContain('say: read "data/logbook.txt" from line 201');
    const whole = await turn('read all of data/logbook.txt');
    expect(whole.text).toContain(stored('data/logbook.txt'));
    writeFileSync(join(root, 'long.txt'), 'line\n'.repeat(4321));
    expect(await turn('summarise long.txt')).toMatchObject({ rounds: 5 });
    expect((await turn('how many lines in long.txt?')).text).toBe('long.txt has 4321 lines.');
  });

  test('replaces everywhere and keeps everything else', async () => {
    const before = `\uFEFFold\r\n${'x old y\r\n'.repeat(2500)}end`;
    writeFileSync(join(root, 'a.txt'), before);
    expect((await turn('replace "old" with "neü" in a.txt')).text).toBe(
      'Replaced 2501 occurrences of "old" with "neü" in a.txt.',
    );
    expect(stored('a.txt')).toBe(before.replaceAll('old', 'neü'));
    expect((await turn('replace "gone" with "" in a.txt')).text).toContain('does not contain "gone"');
  });

  test('does not rewrite what it could not read whole', async () => {
    const before = `old ${'x'.repeat(20_000)}\n`;
    writeFileSync(join(root, 'a.txt'), before);
    expect((await turn('replace "old" with "new" in a.txt')).text).toContain('did not change it');
    expect(stored('a.txt')).toBe(before);
  });

  test('writes and appends', async () => {
    await turn('write "one\\ntwo" to new/list.txt');
    await turn('append "three" to new/list.txt');
    expect(stored('new/list.txt')).toBe('one\ntwo\nthree\n');
  });

  test('describes the folder, binaries and empty files included', async () => {
    writeFileSync(join(root, 'blob'), Buffer.from([0, 1]));
    writeFileSync(join(root, 'empty'), '');
    const { text, rounds } = await turn('describe the workspace');
    expect(rounds).toBe(2);
    expect(text).toContain('- README.md (19 lines): Harbour boat shed');
    expect(text).toContain('- blob: not readable as text');
    expect(text).toContain('- empty (0 lines)');
  });

  test('is told by the tools what it may not do', async () => {
    const { text } = await turn('write "x" to ../escape.txt');
    expect(text).toMatch(/^write_file failed: .*"\.\.".*\.\.\/escape\.txt was not written\.$/);
    expect(existsSync(join(root, '../escape.txt'))).toBe(false);
  });
});
