import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { glob } from '../../examples/workspace/glob.ts';
import { formatPage, parsePage } from '../../examples/workspace/page.ts';
import { MAX_FILE_BYTES, replaceText } from '../../examples/workspace/text-files.ts';
import { workspaceTools } from '../../examples/workspace/tools.ts';
import type { CallInfo, DisplayContent, ToolCallContext, ToolResult } from '../../src/contracts/index.ts';

let base: string;
let root: string;
let outside: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')));
  root = join(base, 'root');
  outside = join(base, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'secret\n');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function tool(name: string) {
  const found = workspaceTools(root).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

async function call(name: string, args: Record<string, unknown>, signal = new AbortController().signal) {
  return (await tool(name).execute?.(args, { signal } as ToolCallContext)) as unknown;
}

const text = async (name: string, args: Record<string, unknown>) => String(await call(name, args));
const write = async (args: Record<string, unknown>) => (await call('write_file', args)) as ToolResult;

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
}

const callInfo: CallInfo = {
  callId: 'c',
  sessionId: 's',
  userId: 'ann',
  principal: { id: 'ann' },
  agentPath: ['bot'],
  signal: new AbortController().signal,
  deps: undefined,
};
const stored = (path: string) => readFileSync(join(root, path), 'utf8');

async function preview(args: Record<string, unknown>): Promise<DisplayContent[]> {
  return (await tool('write_file').preview?.(args, callInfo)) ?? [];
}

/** All pages of a file, put together. */
async function pages(path: string, limit?: number): Promise<{ text: string; pages: number }> {
  let all = '';
  let count = 0;
  for (let offset = 1; ; count++) {
    const page = parsePage(await text('read_file', { path, offset, ...(limit === undefined ? {} : { limit }) }));
    if (page === undefined) throw new Error('not a page');
    all += page.text;
    offset = page.to + 1;
    if (page.to >= page.total) return { text: all, pages: count + 1 };
  }
}

describe('descriptions', () => {
  test('only write_file may change anything', () => {
    const changing = workspaceTools(root).filter(({ annotations }) => annotations?.readOnly !== true);
    expect(changing.map(({ name, kind, annotations }) => ({ name, kind, annotations }))).toEqual([
      { name: 'write_file', kind: 'edit', annotations: { readOnly: false, idempotent: false, exclusive: true } },
    ]);
  });
});

describe('confinement', () => {
  const attempts: [string, (path: string) => Promise<unknown>][] = [
    ['list_files', (path) => call('list_files', { path })],
    ['read_file', (path) => call('read_file', { path })],
    ['search_text', (path) => call('search_text', { path, query: 'secret' })],
    ['write_file', (path) => call('write_file', { path, content: 'x' })],
    ['preview of write_file', (path) => preview({ path, content: 'x' })],
  ];

  describe.each(attempts)('%s', (_, attempt) => {
    test.each(['../outside/secret.txt', 'a/../../outside/secret.txt', 'a/..', '..', '..\\outside\\secret.txt'])(
      'refuses %j',
      async (path) => {
        await expect(attempt(path)).rejects.toThrow('".."');
      },
    );

    test('refuses absolute paths outside, whether something is there or not', async () => {
      await expect(attempt(join(outside, 'secret.txt'))).rejects.toThrow('outside the workspace');
      await expect(attempt(join(outside, 'nothing.txt'))).rejects.toThrow('outside the workspace');
      await expect(attempt(`${root}-else`)).rejects.toThrow('outside the workspace');
    });

    test('refuses links that lead out', async () => {
      symlinkSync(join(outside, 'secret.txt'), join(root, 'file-link'));
      symlinkSync(outside, join(root, 'folder-link'));
      symlinkSync('folder-link', join(root, 'link-to-link'));
      const paths = ['file-link', 'folder-link/secret.txt', 'folder-link/new.txt', 'folder-link/a/b', 'link-to-link/x'];
      for (const path of paths) await expect(attempt(path)).rejects.toThrow('outside the workspace');
      expect(readdirSync(outside)).toEqual(['secret.txt']);
    });

    test('refuses links that form a loop or lead nowhere', async () => {
      symlinkSync('b', join(root, 'a'));
      symlinkSync('a', join(root, 'b'));
      symlinkSync('nothing', join(root, 'dangling'));
      symlinkSync(join(outside, 'new.txt'), join(root, 'dangling-out'));
      await expect(attempt('a')).rejects.toThrow('loop');
      await expect(attempt('a/x')).rejects.toThrow('loop');
      await expect(attempt('dangling')).rejects.toThrow('nowhere');
      await expect(attempt('dangling/x.txt')).rejects.toThrow('nowhere');
      await expect(attempt('dangling-out')).rejects.toThrow('nowhere');
      expect(readdirSync(outside)).toEqual(['secret.txt']);
      expect(readdirSync(root).sort()).toEqual(['a', 'b', 'dangling', 'dangling-out']);
    });

    test('refuses NUL, empty paths, files used as folders and .git', async () => {
      put('file.txt', 'x');
      put('.git/config', 'x');
      symlinkSync('.git', join(root, 'innocent'));
      await expect(attempt('a\0b')).rejects.toThrow('NUL');
      await expect(attempt('')).rejects.toThrow('empty');
      await expect(attempt('file.txt/x')).rejects.toThrow('file as a folder');
      await expect(attempt('.git/hooks/pre-commit')).rejects.toThrow('.git');
      await expect(attempt('innocent/config')).rejects.toThrow('.git');
    });
  });

  test('allows links that stay inside and absolute paths inside', async () => {
    put('real/file.txt', 'hello\n');
    symlinkSync('real', join(root, 'link'));
    symlinkSync('real/file.txt', join(root, 'file-link'));
    expect(await text('read_file', { path: 'link/file.txt' })).toContain('hello');
    expect(await text('read_file', { path: join(root, 'real/file.txt') })).toContain('hello');
    await write({ path: 'file-link', content: 'changed\n' });
    expect(stored('real/file.txt')).toBe('changed\n');
    expect(
      readdirSync(root, { withFileTypes: true })
        .find(({ name }) => name === 'file-link')
        ?.isSymbolicLink(),
    ).toBe(true);
  });

  test('works under a root that is itself reached through a link', async () => {
    put('file.txt', 'hello\n');
    const alias = join(base, 'alias');
    symlinkSync(root, alias);
    root = alias;
    expect(await text('read_file', { path: 'file.txt' })).toContain('hello');
    expect(await text('read_file', { path: join(alias, 'file.txt') })).toContain('file.txt: lines 1-1 of 1');
  });

  test('neither lists nor searches through links', async () => {
    put('inside.txt', 'secret plan\n');
    symlinkSync(outside, join(root, 'folder-link'));
    symlinkSync('.', join(root, 'self'));
    expect(await text('list_files', {})).toBe('folder-link (link)\ninside.txt\nself (link)\n[3 files]');
    expect(await text('search_text', { query: 'secret' })).toBe('inside.txt:1: secret plan\n[1 match in 1 file]');
  });

  test('errors hold no absolute path', async () => {
    put('folder/x', 'x');
    await expect(call('read_file', { path: 'missing/file' })).rejects.toThrow(/^missing\/file does not exist/);
    await expect(call('write_file', { path: 'folder', content: '' })).rejects.toThrow(/^folder is a folder/);
  });
});

describe('list_files', () => {
  beforeEach(() => {
    for (const path of ['b.md', 'src/a.py', 'src/deep/c.go', 'src/deep/d.md', '.hidden', 'é/ü.md']) put(path, '');
    put('node_modules/x/index.js', '');
    put('.git/HEAD', '');
  });

  test('lists files recursively and leaves out .git and node_modules', async () => {
    expect(await text('list_files', {})).toBe(
      '.hidden\nb.md\nsrc/a.py\nsrc/deep/c.go\nsrc/deep/d.md\né/ü.md\n[6 files]',
    );
    expect(await text('list_files', { path: 'src/deep' })).toBe('src/deep/c.go\nsrc/deep/d.md\n[2 files]');
  });

  test.each([
    ['*.md', ['b.md', 'src/deep/d.md', 'é/ü.md']],
    ['src/**/*.{py,go}', ['src/a.py', 'src/deep/c.go']],
    ['**', ['.hidden', 'b.md', 'src/a.py', 'src/deep/c.go', 'src/deep/d.md', 'é/ü.md']],
    ['**/d.md', ['src/deep/d.md']],
    ['src/', ['src/a.py', 'src/deep/c.go', 'src/deep/d.md']],
    ['?/?.md', ['é/ü.md']],
    ['src/*', ['src/a.py']],
    ['../*', []],
  ])('pattern %j', async (pattern, expected) => {
    const lines = (await text('list_files', { pattern })).split('\n');
    expect(lines.slice(0, -1)).toEqual(expected);
  });

  test('says how many it does not show', async () => {
    for (let n = 0; n < 510; n++) put(`many/${n}`, '');
    const lines = (await text('list_files', { path: 'many' })).split('\n');
    expect(lines).toHaveLength(501);
    expect(lines.at(-1)).toContain('500 of 510 files');
  });

  test('a hostile pattern takes no time', () => {
    expect(glob(`${'*a'.repeat(80)}b`)('a'.repeat(250))).toBe(false);
    expect(() => glob('{a,b}'.repeat(10))).toThrow('alternatives');
  });

  test('quotes names that would look like several lines', async () => {
    put('odd/a\nb', '');
    expect(await text('list_files', { path: 'odd' })).toBe('"odd/a\\nb"\n[1 file]');
    put('"q', '');
    expect(await text('list_files', { pattern: '*q' })).toBe('"\\"q"\n[1 file]');
  });
});

describe('read_file', () => {
  test('numbers lines, tells the total and where the next page starts', async () => {
    put('a.txt', 'one\ntwo\nthree\n');
    expect(await text('read_file', { path: 'a.txt', offset: 2, limit: 1 })).toBe(
      'a.txt: lines 2-2 of 3\n2\ttwo\n[1 more: read_file with offset 3]',
    );
  });

  test.each([
    ['many lines', Array.from({ length: 2345 }, (_, n) => `line ${n} — ü 🚣‍♀️`).join('\n')],
    ['CRLF', 'a\r\nb\r\n\r\nc'],
    ['CRLF and LF mixed, with a lone CR', 'a\r\nb\nc\rd\r\n'],
    ['a byte order mark', '\uFEFFa\nb\n'],
    ['blank lines only', '\n\n\n'],
    ['one line without an end', 'x'],
    ['lines that look like notes', '[3 more: read_file with offset 1]\n1\tx\n[no line feed at the end of the file]'],
    ['other line separators', 'a\u2028b\u0085c\n'],
    ['long lines', `${'x'.repeat(9000)}\n`.repeat(20)],
    ['nothing', ''],
  ])('pages add up to the file: %s', async (_, content) => {
    put('a.txt', content);
    expect((await pages('a.txt')).text).toBe(content);
    expect((await pages('a.txt', 1000)).text).toBe(content);
    if (content.length < 1000) expect((await pages('a.txt', 1)).text).toBe(content);
  });

  test('a page is bounded by its size as well', async () => {
    put('a.txt', `${'x'.repeat(9000)}\n`.repeat(20));
    expect((await pages('a.txt')).pages).toBe(5);
  });

  test('cuts an overlong line between characters and says so', () => {
    const family = '👨‍👩‍👧';
    const page = formatPage('a', `${'x'.repeat(9997)}${family}${'y'.repeat(5000)}\nshort\n`, 1, 10);
    expect(page).toContain('[line 1 is cut: 9997 of 15005 characters]');
    expect(page.isWellFormed()).toBe(true);
    expect(page).not.toContain('👨');
    expect(parsePage(page)?.cut).toBe(true);
    expect(formatPage('a', `x${'😀'.repeat(9000)}`, 1, 10).isWellFormed()).toBe(true);
  });

  test('refuses binaries, other encodings, folders and large files politely', async () => {
    put('nul', Buffer.from([65, 0, 66]));
    put('latin', Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    put('folder/x', '');
    put('large', 'x'.repeat(MAX_FILE_BYTES + 1));
    put('just', 'x'.repeat(MAX_FILE_BYTES));
    await expect(call('read_file', { path: 'nul' })).rejects.toThrow('binary');
    await expect(call('read_file', { path: 'latin' })).rejects.toThrow('not UTF-8');
    await expect(call('read_file', { path: 'folder' })).rejects.toThrow('Use list_files');
    await expect(call('read_file', { path: 'large' })).rejects.toThrow('too large');
    expect(await text('read_file', { path: 'just' })).toContain('lines 1-1 of 1');
  });

  test('does not wait for a pipe that nobody writes to', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(call('read_file', { path: 'pipe' })).rejects.toThrow('not a regular file');
    await expect(write({ path: 'pipe', content: 'x' })).rejects.toThrow('not a regular file');
    expect(await text('search_text', { query: 'x' })).toBe('[no match in 0 files]');
  });

  test('tells how long the file is when asked for what is past its end', async () => {
    put('a.txt', 'one\n');
    await expect(call('read_file', { path: 'a.txt', offset: 2 })).rejects.toThrow('has 1 lines');
  });
});

describe('search_text', () => {
  test('finds texts and expressions, with file and line', async () => {
    put('a/x.txt', 'one\r\nTODO: two\r\n');
    put('b.txt', 'todo\nstraße: TODO\n');
    expect(await text('search_text', { query: 'TODO' })).toBe(
      'a/x.txt:2: TODO: two\nb.txt:2: straße: TODO\n[2 matches in 2 files]',
    );
    expect(await text('search_text', { query: 'todo', ignoreCase: true })).toContain('[3 matches in 2 files]');
    expect(await text('search_text', { query: '^\\w+: T', regex: true })).toContain('[no match in 2 files]');
    expect(await text('search_text', { query: '^todo$', regex: true })).toContain('b.txt:1: todo');
    expect(await text('search_text', { query: 'T.*', path: 'a' })).toContain('[no match in 1 file]');
    expect(await text('search_text', { query: 'TODO', path: 'b.txt' })).toContain('[1 match in 1 file]');
  });

  test('skips binaries and counts files that are too large', async () => {
    put('bin', Buffer.from('needle\0'));
    put('large', 'needle '.repeat(MAX_FILE_BYTES / 7 + 1));
    put('text', 'needle');
    expect(await text('search_text', { query: 'needle' })).toBe(
      'text:1: needle\n[1 match in 1 file]\n[1 file was too large to search]',
    );
  });

  test('shows so many lines and counts the rest', async () => {
    put('a', 'x\n'.repeat(150));
    put('b', 'x\n'.repeat(150));
    const lines = (await text('search_text', { query: 'x' })).split('\n');
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toContain('first 200 of 300 matches in 2 files');
  });

  test('shows the part of a long line that matters', async () => {
    put('a', `${'ü'.repeat(5000)}needle${'🚣‍♀️'.repeat(1000)}`);
    const [line = ''] = (await text('search_text', { query: 'needle' })).split('\n');
    expect(line).toContain('needle');
    expect(line.length).toBeLessThan(300);
    expect(line.isWellFormed()).toBe(true);
  });

  test('explains a bad expression', async () => {
    await expect(call('search_text', { query: '(', regex: true })).rejects.toThrow(
      /Unterminated group.*regex to false/,
    );
    await expect(call('search_text', { query: 'a\nb' })).rejects.toThrow('one line');
    await expect(call('search_text', { query: '' })).rejects.toThrow('empty');
  });

  test('an expression that would never end is stopped', async () => {
    put('a', `${'a'.repeat(50)}!\n`);
    await expect(call('search_text', { query: '(a+)+$', regex: true })).rejects.toThrow('takes too long');
  });

  test('an expression sees the start of an overlong line only, and says so', async () => {
    put('a', `${'x'.repeat(3000)}needle\n`);
    expect(await text('search_text', { query: 'needle', regex: true })).toBe(
      '[no match in 1 file]\n[1 long lines: only their first 2000 characters were searched]',
    );
  });
});

describe('write_file', () => {
  test.each<[string, string | undefined, Record<string, unknown>, string]>([
    ['a new file in new folders', undefined, { content: 'neü\n' }, 'neü\n'],
    ['an old file', 'old\r\n', { content: 'new\r\n' }, 'new\r\n'],
    ['an addition', '\uFEFFold', { content: ' + ß', append: true }, '\uFEFFold + ß'],
    ['an addition to nothing', undefined, { content: 'x', append: true }, 'x'],
    ['an empty text', 'old', { content: '' }, ''],
    ['an empty old file', '', { content: 'x' }, 'x'],
    ['half a character', undefined, { content: 'a\uD83Db' }, 'a\uFFFDb'],
  ])('the preview is what is written: %s', async (_, old, args, expected) => {
    const path = 'deep/er/a.txt';
    if (old !== undefined) put(path, old);
    const before = readdirSync(root);
    const shown = await preview({ path, ...args });
    expect(readdirSync(root)).toEqual(before);
    const result = await write({ path, ...args });
    const diff = { type: 'diff', path, newText: expected, ...(old === undefined ? {} : { oldText: old }) };
    expect(shown).toEqual([diff]);
    expect(result.display).toEqual(shown);
    expect(stored(path)).toBe(expected);
    expect(readdirSync(join(root, 'deep/er'))).toEqual(['a.txt']);
  });

  test('keeps the permissions of a file', async () => {
    put('run.sh', 'old');
    chmodSync(join(root, 'run.sh'), 0o751);
    await write({ path: 'run.sh', content: 'new' });
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o751);
  });

  test('refuses what it could not show: binaries, folders, texts that are too large', async () => {
    put('bin', Buffer.from([0]));
    put('folder/x', '');
    await expect(write({ path: 'bin', content: 'x' })).rejects.toThrow('binary');
    await expect(write({ path: 'folder', content: 'x' })).rejects.toThrow('folder');
    await expect(write({ path: 'new/', content: 'x' })).rejects.toThrow('names a folder');
    await expect(write({ path: 'big', content: 'ü'.repeat(MAX_FILE_BYTES / 2 + 1) })).rejects.toThrow('at most');
    put('full', 'x'.repeat(MAX_FILE_BYTES));
    await expect(write({ path: 'full', content: 'x', append: true })).rejects.toThrow('at most');
    expect(readdirSync(root).sort()).toEqual(['bin', 'folder', 'full']);
  });

  test('a failure leaves the old file and nothing else', async () => {
    put('folder/x', 'old');
    const place = { path: 'folder', absolute: join(root, 'folder'), exists: true };
    await expect(replaceText(place, 'new')).rejects.toThrow(
      /^folder could not be written \(E\w+\)\. It is unchanged\.$/,
    );
    expect(readdirSync(root)).toEqual(['folder']);
  });

  test('an abort before the last moment leaves the old file and nothing else', async () => {
    put('a.txt', 'old');
    let asked = 0;
    const controller = new AbortController();
    const signal = Object.assign(controller.signal, {
      throwIfAborted() {
        if (++asked === 2) throw new Error('aborted');
      },
    });
    await expect(call('write_file', { path: 'a.txt', content: 'new' }, signal)).rejects.toThrow('aborted');
    expect(asked).toBe(2);
    expect(stored('a.txt')).toBe('old');
    expect(readdirSync(root)).toEqual(['a.txt']);
  });

  test('finds out whether a lost call had written', async () => {
    put('a.txt', 'new');
    const verdict = async (args: Record<string, unknown>) =>
      tool('write_file').onUnknownOutcome?.({ ...callInfo, args });
    expect(await verdict({ path: 'a.txt', content: 'new' })).toEqual({ result: 'a.txt has the new text.' });
    expect(await verdict({ path: 'a.txt', content: 'other' })).toBe('ask');
    expect(await verdict({ path: 'none.txt', content: 'x' })).toBe('ask');
    expect(await verdict({ path: 'a.txt', content: 'new', append: true })).toBe('ask');
  });
});

describe('the folder of the example', () => {
  test('can be read through the tools', async () => {
    root = join(import.meta.dirname, '../../examples/workspace/files');
    expect((await text('list_files', { pattern: '*.{py,go}' })).split('\n')).toHaveLength(4);
    const logbook = await pages('data/logbook.txt');
    expect(logbook).toEqual({ text: stored('data/logbook.txt'), pages: 2 });
    expect(await text('search_text', { query: 'TODO' })).toMatch(/\[\d\d matches in \d+ files\]$/);
    expect(await text('read_file', { path: 'notes/crew-names.md' })).toContain('李娜');
  });
});
