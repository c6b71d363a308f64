import { describe, expect, test } from 'vitest';
import type { FromAcpOptions } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { allowAll, createHost } from '../../src/index.ts';
import { endOf, responsesOf, say, texts } from '../dispatch/agent-kit.ts';
import { claudeCommand, codexCommand, codexEdit, newCodexCommand, opencodeCommand } from './shapes.ts';
import type { Frame, Told } from './told-app.ts';
import { toldAgent } from './told-app.ts';

const requestsOf = (events: Awaited<ReturnType<typeof say>>) =>
  events.flatMap((event) => (event.type === 'tool_request' ? [event] : []));
const wordsOf = (events: Awaited<ReturnType<typeof say>>) =>
  responsesOf(events).map(({ content }) => content.map((part) => ('text' in part ? part.text : part.type)).join(''));

/** Under a host where a person says yes to all, or no; what a question showed comes along. */
async function run(told: Told, answer: 'approve' | 'deny' = 'approve', more: Partial<FromAcpOptions> = {}) {
  const shown: unknown[] = [];
  const host = createHost({
    app: 'desk',
    agents: [fromAcp({ name: 'told', connect: told.connect, cwd: '/work', ...more })],
    onApproval: ({ args, approval }) => {
      shown.push(args);
      return { kind: answer, previewDigest: approval.previewDigest, by: { id: 'ann' } };
    },
  });
  try {
    const session = await host.open('told');
    const events = await say(session, 'go');
    const errors = events.flatMap((event) => (event.type === 'error' ? [`${event.code}: ${event.message}`] : []));
    return { events, errors, shown, end: endOf(events), requests: requestsOf(events), words: wordsOf(events) };
  } finally {
    await host.close();
  }
}

const execute = (rawInput: object, more: object = {}) => ({
  toolCallId: 'c',
  kind: 'execute' as const,
  title: 'ls',
  rawInput,
  ...more,
});
/** Asked about with one input, begun with another. */
const askedAndBegun = (asked: object, begun: object): Frame[] => [
  {
    ask: { ...execute(asked), status: 'pending' },
    yes: [
      { update: { sessionUpdate: 'tool_call', ...execute(begun), status: 'in_progress' } },
      { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed', rawOutput: 'done' } },
    ],
  },
];

describe('what was asked and what is run are compared by what means something', () => {
  test.each([
    ['IOP-A1 codex-acp 0.16', codexCommand('c', 'ls')],
    [
      'IOP-A1 times that differ beside the same command',
      askedAndBegun({ command: 'ls', at: 1 }, { command: 'ls', at: 2 }),
    ],
    ['IOP-A2 an edit of codex-acp 0.16', codexEdit('c', '/project/new.txt')],
    ['IOP-A2 codex-acp 2.6', newCodexCommand('c', 'ls', 'a.txt\n')],
    ['IOP-A2 opencode', opencodeCommand('c', 'ls')],
    ['IOP-A5 claude-agent-acp', claudeCommand('c', 'touch a.txt', 'Makes a file')],
  ])('%s: an approved call goes through, asked about once', async (_, frames) => {
    const told = toldAgent([frames]);
    const { end, errors, requests, shown } = await run(told);
    expect(errors).toEqual([]);
    expect(end).toMatchObject({ reason: 'completed' });
    expect([told.outcomes, shown.length, requests.length]).toEqual([['approved'], 1, 1]);
    expect(told.cancelled()).toBe(false);
  });

  test.each([
    ['another command', { command: 'ls', cwd: '/' }, { command: 'rm', cwd: '/' }],
    ['another folder', { command: 'ls', cwd: '/' }, { command: 'ls', cwd: '/etc' }],
    ['a member more', { command: 'ls' }, { command: 'ls', env: { LD_PRELOAD: 'x' } }],
    ['a member less', { command: 'ls', dryRun: true }, { command: 'ls' }],
    ['a time that is an argument', { name: 'pay', at: 1 }, { name: 'pay', at: 2 }],
    ['a time that is no time', { command: 'ls', at: 1 }, { command: 'ls', at: { command: 'rm' } }],
    ['an id that is not the call’s own', { command: 'ls', call_id: 'x' }, { command: 'ls', call_id: 'x', source: 1 }],
    ['a record of another command', { call_id: 'c', command: 'ls' }, { call_id: 'c', command: 'rm', source: 1 }],
    ['a record with a member more', { call_id: 'c', command: 'ls' }, { call_id: 'c', command: 'ls', sudo: true }],
  ])('IOP-A1 %s is another call: it is stopped', async (_, asked, begun) => {
    const { errors, end } = await run(toldAgent([askedAndBegun(asked, begun)]));
    expect(errors).toEqual([expect.stringMatching(/E_AGENT_UNASKED.*another call than the one that was allowed/)]);
    expect(end).toMatchObject({ reason: 'failed' });
  });

  test.each([
    ['codex-acp 0.16', codexCommand('c', 'ls', 'rm')],
    ['opencode', opencodeCommand('c', 'ls', 'rm')],
  ])('IOP-A1 another command in the shape of %s is stopped', async (_, frames) => {
    const { errors } = await run(toldAgent([frames]));
    expect(errors).toEqual([expect.stringContaining('another call')]);
  });

  test('IOP-A1 members that an application names as volatile may differ, others may not', async () => {
    const frames = (path: string) => askedAndBegun({ path: 'a', ticket: 1 }, { path, ticket: 2 });
    const volatile = ['ticket'];
    expect((await run(toldAgent([frames('a')]), 'approve', { volatile })).errors).toEqual([]);
    expect((await run(toldAgent([frames('b')]), 'approve', { volatile })).errors).toHaveLength(1);
    expect((await run(toldAgent([frames('a')]))).errors).toHaveLength(1);
  });

  test('IOP-A1 without an input the title of a command and the files of an edit have to be the same', async () => {
    const ask = (kind: 'execute' | 'edit', path: string) => ({
      toolCallId: 'c',
      kind,
      title: 'cat a',
      content: [{ type: 'diff' as const, path, newText: 'x' }],
    });
    const end = (title: string, path: string, kind: 'execute' | 'edit') =>
      ({ update: { sessionUpdate: 'tool_call_update', ...ask(kind, path), title, status: 'completed' } }) as const;
    const errorsOf = async (kind: 'execute' | 'edit', title: string, path: string) =>
      (await run(toldAgent([[{ ask: ask(kind, '/project/a'), yes: [end(title, path, kind)] }]]))).errors.length;
    expect(await errorsOf('execute', 'cat a', '/project/a')).toBe(0);
    expect(await errorsOf('execute', 'cat b', '/project/a')).toBe(1);
    expect(await errorsOf('edit', 'done', '/project/a')).toBe(0);
    expect(await errorsOf('edit', 'done', '/etc/b')).toBe(1);
  });

  test.each([
    ['a page', 'fetch', 'https://a.example', 'https://b.example'],
    ['what is deleted', 'delete', 'remove a', 'remove b'],
    ['a tool of a kind of its own', 'other', 'pay 1', 'pay 1000'],
  ] as const)(
    'IOP-A1 where nothing but a title was shown, another title is another call: %s',
    async (_, kind, title, then) => {
      const frames = (begun: string): Frame[] => [
        {
          ask: { toolCallId: 'c', kind, title },
          yes: [{ update: { sessionUpdate: 'tool_call_update', toolCallId: 'c', title: begun, status: 'completed' } }],
        },
      ];
      expect((await run(toldAgent([frames(title)]))).errors).toEqual([]);
      expect((await run(toldAgent([frames(then)]))).errors).toEqual([expect.stringContaining('another call')]);
    },
  );

  test('IOP-A1 what was announced is a part of the question: a person sees all of it', async () => {
    const { shown } = await run(toldAgent([opencodeCommand('c', 'ls')]));
    expect(shown).toMatchObject([{ command: 'ls', cwd: '/work', description: 'lists files' }]);
  });
});

describe('a call that is announced as begun, then asked about', () => {
  test.each([
    ['IOP-A3 of a kind that needs no question', ['execute']],
    ['IOP-A2 of a kind that has to be asked about', ['read']],
  ])('%s: two at once are two calls, and each runs after its yes', async (_, unasked) => {
    const all = [newCodexCommand('c1', 'ls', 'a.txt'), newCodexCommand('c2', 'pwd', '/work')];
    const told = toldAgent([[{ all }]]);
    const { end, requests, words } = await run(told, 'approve', { unasked });
    expect(end).toMatchObject({ reason: 'completed' });
    expect(told.outcomes).toEqual(['approved', 'approved']);
    expect(requests.map(({ args }) => args.command).sort()).toEqual(['ls', 'pwd']);
    expect(words.sort()).toEqual(['/work', 'a.txt']);
  });

  test('IOP-A3 a question that comes after the call was recorded ends that record, and is asked', async () => {
    const input = execute({ command: 'ls' });
    const told = toldAgent([
      [
        { update: { sessionUpdate: 'tool_call', ...input, status: 'in_progress' } },
        { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'in_progress', rawOutput: 'a' } },
        ...newCodexCommand('c', 'ls', 'a.txt'),
      ],
    ]);
    const { end, words, requests } = await run(told, 'approve', { unasked: ['execute'] });
    expect(end).toMatchObject({ reason: 'completed' });
    expect(told.outcomes).toEqual(['approved']);
    expect(requests).toHaveLength(2);
    expect(words).toEqual([expect.stringContaining('once more'), 'a.txt']);
  });

  test('IOP-A3 a call that is asked about twice, say for more rights, is put to a person twice', async () => {
    const input = execute({ command: 'ls' });
    const again: Frame = {
      ask: { ...input, rawInput: { command: 'ls', rights: 'all' } },
      yes: [{ update: { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed', rawOutput: 'ok' } }],
    };
    const told = toldAgent([[{ ask: input, yes: [again] }]]);
    const { end, shown, words } = await run(told);
    expect(end).toMatchObject({ reason: 'completed' });
    expect(shown).toMatchObject([{ command: 'ls' }, { command: 'ls', rights: 'all' }]);
    expect(words).toEqual([expect.stringContaining('once more'), 'ok']);
  });

  test.each([
    ['is not asked about', []],
    ['returns something', [{ update: { sessionUpdate: 'tool_call_update', toolCallId: 'c', rawOutput: 'a' } }]],
  ] as [string, Frame[]][])('IOP-A2 one that %s is stopped', async (_, more) => {
    const begun: Frame = {
      update: { sessionUpdate: 'tool_call', ...execute({ command: 'ls' }), status: 'in_progress' },
    };
    const told = toldAgent([[begun, ...more, { hang: true }]]);
    const { errors } = await run(told, 'approve', more.length === 0 ? { askWithinMs: 10 } : {});
    expect(errors).toEqual([expect.stringMatching(/E_AGENT_UNASKED.*begun without asking/)]);
    expect(told.cancelled()).toBe(true);
  });

  test.each([
    ['another command', { command: 'rm' }, { command: 'ls' }],
    ['another folder', { command: 'ls', cwd: '/etc' }, { command: 'ls', cwd: '/' }],
    ['text for a list', ['rm'], 'ls'],
  ])(
    'IOP-A2 one that was begun as %s than it is asked about is stopped, and nobody is asked',
    async (_, begun, asked) => {
      const input = { toolCallId: 'c', kind: 'execute' as const, title: 'ls' };
      const told = toldAgent([
        [
          { update: { sessionUpdate: 'tool_call', ...input, status: 'in_progress', rawInput: begun } },
          { ask: { ...input, status: 'pending', rawInput: asked } },
        ],
      ]);
      const { errors, shown } = await run(told);
      expect([told.outcomes, shown]).toEqual([['cancelled'], []]);
      expect(errors).toEqual([expect.stringMatching(/E_AGENT_UNASKED.*asked about as another call/)]);
    },
  );

  test('IOP-A2 once it is stopped, nobody is asked any more', async () => {
    const begun = (id: string): Frame => ({
      update: { sessionUpdate: 'tool_call', ...execute({ command: 'ls' }), toolCallId: id, status: 'completed' },
    });
    const told = toldAgent([[begun('c1'), ...newCodexCommand('c2', 'pwd')]]);
    const { shown, errors } = await run(told);
    expect([told.outcomes, shown]).toEqual([['cancelled'], []]);
    expect(errors).toHaveLength(1);
  });

  test('IOP-A2 one that the agent leaves open at the end of its turn was begun without asking', async () => {
    const begun: Frame = {
      update: { sessionUpdate: 'tool_call', ...execute({ command: 'ls' }), status: 'in_progress' },
    };
    const { errors } = await run(toldAgent([[begun]]));
    expect(errors).toEqual([expect.stringContaining('begun without asking')]);
  });

  test('IOP-A2 a no: nothing is allowed, and an agent that ends its turn for it has ended it well', async () => {
    const told = toldAgent([newCodexCommand('c', 'ls', 'a')], { answer: { stopReason: 'cancelled' } });
    const { errors, end, words } = await run(told, 'deny');
    expect([told.outcomes, errors]).toEqual([['abort'], []]);
    expect(end).toMatchObject({ reason: 'completed' });
    expect(words.join()).not.toContain('a.txt');
  });

  test('IOP-A2 an agent that ends its turn as cancelled although all was allowed has not ended it well', async () => {
    const told = toldAgent([newCodexCommand('c', 'ls', 'a')], { answer: { stopReason: 'cancelled' } });
    expect((await run(told)).end).not.toMatchObject({ reason: 'completed' });
  });
});

describe('a result is what a call returned', () => {
  test.each([
    ['codex-acp 0.16', codexCommand('c', 'ls'), 'a.txt\n'],
    ['codex-acp 2.6', newCodexCommand('c', 'ls', 'a.txt\n'), 'a.txt\n'],
    ['an edit of codex-acp 0.16', codexEdit('c', '/project/new.txt'), 'Success\n'],
    ['opencode', opencodeCommand('c', 'ls'), 'a.txt'],
    ['claude-agent-acp, a command without output', claudeCommand('c', 'touch a', 'Makes a file'), ''],
    ['codex-acp 2.6, a command without output', newCodexCommand('c', 'touch a'), ''],
  ])('IOP-A5 %s', async (_, frames, text) => {
    const { words } = await run(toldAgent([frames]));
    expect(words).toEqual([text]);
  });

  test('IOP-A5 output that comes in pieces is whole, also of a call that failed; changes are shown', async () => {
    const told = toldAgent([
      [
        {
          ask: {
            ...execute({ command: 'make' }),
            content: [{ type: 'content', content: { type: 'text', text: 'Run?' } }],
          },
          yes: [
            ...['one ', 'two'].map(
              (data): Frame => ({
                update: {
                  sessionUpdate: 'tool_call_update',
                  toolCallId: 'c',
                  status: 'in_progress',
                  _meta: { terminal_output: { terminal_id: 'c', data } },
                },
              }),
            ),
            {
              update: {
                sessionUpdate: 'tool_call_update',
                toolCallId: 'c',
                status: 'failed',
                content: [
                  { type: 'content', content: { type: 'text', text: 'Run?' } },
                  { type: 'diff', path: '/project/a', newText: 'b' },
                ],
                rawOutput: { exit_code: 2 },
              },
            },
          ],
        },
      ],
    ]);
    const { events } = await run(told);
    expect(responsesOf(events)).toMatchObject([
      {
        isError: true,
        content: [{ text: 'one two' }],
        display: [{ type: 'diff', path: '/project/a' }],
        structuredContent: { exit_code: 2 },
      },
    ]);
  });
});

test('a policy that allows everything does not answer for a person', async () => {
  const told = toldAgent([newCodexCommand('c', 'ls', 'a')]);
  const source = fromAcp({ name: 'told', connect: told.connect, cwd: '/work' });
  const session = await source.open({ sessionId: 's1', create: true }, { app: 'desk', policy: allowAll() });
  expect(endOf(await say(session, 'go'))).toMatchObject({ reason: 'input_required' });
  expect(texts(await say(session, { kind: 'continue' }))).toEqual([]);
  await session[Symbol.asyncDispose]();
});
