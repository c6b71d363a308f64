import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { AllowedChanges } from '../../src/adapters/acp/calls/shown-changes.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { createHost } from '../../src/index.ts';
import { policyOf, say } from '../host/kit.ts';

/** An agent in a child process that asks about a call, and writes after a yes. Writes that are asked about are denied. */
async function asked(call: object, writes: [string, string][], { reads = true, mode = false } = {}) {
  const files = new Map([['/w/a', 'see teh file']]);
  const written: [string, string][] = [];
  const questions: Record<string, unknown>[] = [];
  const agent = fromAcp({
    name: 'liar',
    command: process.execPath,
    args: [fileURLToPath(new URL('./liar-agent.ts', import.meta.url))],
    cwd: '/tmp',
    files: {
      ...(reads
        ? {
            readTextFile: async ({ path }) => {
              const text = files.get(path);
              if (text === undefined) throw new Error('no such file');
              return text;
            },
          }
        : {}),
      writeTextFile: async ({ path, content }) => {
        files.set(path, content);
        written.push([path, content]);
      },
    },
  });
  const host = createHost({
    app: 'desk',
    agents: [agent],
    ...(mode ? { permissionMode: 'auto_edit' } : { policy: policyOf({}) }),
    onApproval: ({ name, args, approval }) => {
      questions.push({ name, ...args });
      return { kind: name === 'acp:write_text_file' ? 'deny' : 'approve', previewDigest: approval.previewDigest };
    },
  });
  await say(await host.open('liar'), JSON.stringify({ call, writes }));
  await host.close();
  return { written, questions, deniedWrites: questions.filter(({ name }) => name === 'acp:write_text_file').length };
}

const diff = (path: string, newText: string, oldText?: string) => ({
  type: 'diff',
  path,
  oldText: oldText ?? null,
  newText,
});

describe('ACP-06 what a question shows of a call of an agent', () => {
  const rawInput = {
    title: 'Fix a typo',
    paths: ['/w/README'],
    changes: [{ path: '/w/README', newText: 'the' }],
    more: 1,
  };

  test('is what the protocol says of it: members of its input hide none of that', async () => {
    const call = {
      title: 'rm',
      kind: 'edit',
      locations: [{ path: '/etc/passwd' }],
      content: [diff('/etc/passwd', 'root')],
      rawInput,
    };
    const { questions } = await asked(call, []);
    expect(questions).toEqual([
      {
        name: 'acp:edit',
        title: 'rm',
        paths: ['/etc/passwd'],
        changes: [{ path: '/etc/passwd', newText: 'root' }],
        more: 1,
        input: { title: 'Fix a typo', paths: rawInput.paths, changes: rawInput.changes },
      },
    ]);
  });

  test('has the members of its input where nothing else is told, and each once where it says the same', async () => {
    const { questions } = await asked(
      { title: 'ls', kind: 'execute', rawInput: { title: 'ls', input: 2, paths: ['/w'] } },
      [],
    );
    expect(questions).toEqual([{ name: 'acp:execute', title: 'ls', input: 2, paths: ['/w'] }]);
    const other = await asked({ title: 'rm', kind: 'execute', rawInput: { title: 'ls', input: 2 } }, []);
    expect(other.questions).toEqual([{ name: 'acp:execute', title: 'rm', input: 2, raw_input: { title: 'ls' } }]);
  });
});

describe.each([false, true])('ACP-07 a write within an approved call, edits allowed by mode: %s', (mode) => {
  const edit = (...content: object[]) => ({ title: 'Edit', kind: 'edit', content });

  test.each<[string, object[], [string, string][]]>([
    ['of a part', [diff('/w/a', 'the', 'teh')], [['/w/a', 'see the file']]],
    ['of a whole file', [diff('/w/a', 'new', 'see teh file')], [['/w/a', 'new']]],
    ['that makes a file', [diff('/w/b', 'new')], [['/w/b', 'new']]],
    [
      'of two parts, one by one',
      [diff('/w/a', 'the', 'teh'), diff('/w/a', 'text', 'file')],
      [
        ['/w/a', 'see the file'],
        ['/w/a', 'see the text'],
      ],
    ],
    ['of two parts at once', [diff('/w/a', 'the', 'teh'), diff('/w/a', 'text', 'file')], [['/w/a', 'see the text']]],
  ])('that is the change that was shown, %s: it is made', async (_, content, writes) => {
    const { written, deniedWrites } = await asked(edit(...content), writes, { mode });
    expect(written).toEqual(writes);
    expect(deniedWrites).toBe(0);
  });

  test.each<[string, object, [string, string]]>([
    ['of other content', edit(diff('/w/a', 'the', 'teh')), ['/w/a', 'EVIL']],
    ['of the part alone', edit(diff('/w/a', 'the', 'teh')), ['/w/a', 'the']],
    ['of another file', edit(diff('/w/a', 'the', 'teh')), ['/w/b', 'the']],
    ['of a place that was named', { title: 'ls', kind: 'execute', locations: [{ path: '/w/a' }] }, ['/w/a', 'EVIL']],
  ])('%s is asked about', async (_, call, write) => {
    const { written, deniedWrites } = await asked(call, [write], { mode });
    expect(written).toEqual([]);
    expect(deniedWrites).toBe(1);
  });

  test('that is repeated is asked about', async () => {
    const write: [string, string] = ['/w/b', 'new'];
    const { written, deniedWrites } = await asked(edit(diff('/w/b', 'new')), [write, write], { mode });
    expect(written).toEqual([write]);
    expect(deniedWrites).toBe(1);
  });
});

test('ACP-07 where the host cannot read, a change is one of a whole file', async () => {
  const call = { title: 'Edit', kind: 'edit', content: [diff('/w/a', 'new', 'old')] };
  expect((await asked(call, [['/w/a', 'new']], { reads: false })).written).toEqual([['/w/a', 'new']]);
  expect((await asked(call, [['/w/a', 'EVIL']], { reads: false })).written).toEqual([]);
});

test('ACP-07 a change of each place, with characters that mean something to a replacement', () => {
  const changes = new AllowedChanges([{ path: 'a', oldText: 'x', newText: '$&' }]);
  expect(changes.take('a', '$&-x', 'x-x')).toBe(true);
  expect(changes.has('a')).toBe(false);
  expect(new AllowedChanges([{ path: 'a', oldText: 'x', newText: '$&' }]).take('a', '$&-$&', 'x-x')).toBe(true);
  expect(new AllowedChanges([{ path: 'a', oldText: '', newText: 'y' }]).take('a', 'yx', 'x')).toBe(false);
});
