import { describe, expect, test, vi } from 'vitest';
import type { PolicyEvaluator } from '../../src/contracts/index.ts';
import { allowAll, createHost, InMemorySessionService } from '../../src/index.ts';
import { denies, endOf, responsesOf, say, texts, types } from '../dispatch/agent-kit.ts';
import { collect } from '../runtime/kit.ts';
import { smallAgent, smallChild } from './kit.ts';

const requestsOf = (events: readonly { type: string }[]) => events.filter(({ type }) => type === 'tool_request');

describe('an agent process as a session', () => {
  test('what it says comes in pieces, then whole; nothing is offered to it', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    const events = await say(session, 'think hm\nsay hello to you');
    expect(texts(events)).toEqual(['hello to you']);
    const pieces = events.filter((event) => event.type === 'message' && event.partial);
    expect(pieces.length).toBeGreaterThan(3);
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect(session.descriptor).toMatchObject({ name: 'small', executor: 'acp' });
    expect(agent.journal()[0]).toMatchObject({
      initialize: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
  });

  test('one process for all turns of a session; the second prompt holds only what is new', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    await say(session, 'say one');
    await say(session, 'say two');
    expect(agent.journal()).toMatchObject([
      {},
      { new: agent.folder },
      { prompt: ['say one'] },
      { prompt: ['say two'] },
    ]);
  });

  test.each([
    ['refusal', { reason: 'refusal' }],
    ['max_turn_requests', { reason: 'max_turns' }],
  ])('it stops with %s', async (stop, end) => {
    await using agent = smallAgent();
    expect(endOf(await say(await agent.open(), `stop ${stop}`))).toMatchObject(end);
  });

  test('IOP-M1 an answer that was cut says so at the end of the stream', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    const events = await say(session, 'say half an ans\nstop max_tokens');
    expect(texts(events)).toEqual(['half an ans']);
    expect(endOf(events)).toMatchObject({ reason: 'completed', data: { truncated: true } });
    expect(endOf(await say(session, 'say whole'))).not.toHaveProperty('data.truncated');
  });

  test('an error that it answers with is typed, and the session goes on', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    const events = await say(session, 'fail no such model');
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_AGENT_PROTOCOL', status: 'INTERNAL' });
    expect(texts(await say(session, 'say better'))).toEqual(['better']);
  });
});

describe('what it says without end', () => {
  test.each([
    ['text', 'text'],
    ['thoughts', 'thoughts'],
    ['images', 'other'],
    ['plans', 'other'],
    ['calls', 'other'],
  ])('ATT-B9 %s over answerLimits stop it, and the session goes on', async (what, limit) => {
    await using agent = smallAgent();
    const context = { app: 'shop', answerLimits: { [limit]: 500 } };
    const session = await agent.source.open({ sessionId: 's1', create: true }, context);
    try {
      const events = await say(session, `babble ${what}`);
      expect(endOf(events)).toMatchObject({ reason: 'failed' });
      expect(events.find(({ type }) => type === 'error')).toMatchObject({
        code: 'E_ANSWER_LIMIT',
        details: { limit, max: 500 },
      });
      expect(texts(events).join('').length).toBeLessThan(600);
      expect(agent.journal()).toContain('cancel');
      expect(texts(await say(session, 'say short'))).toEqual(['short']);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  });
});

describe('what it asks for without end', () => {
  test.each(['permissions', 'reads', 'writes', 'costs'])(
    'ATK-22 %s over answerLimits stop it, nothing stays open, and the session goes on',
    async (what) => {
      const files = { readTextFile: async () => 'text', writeTextFile: async () => {} };
      await using agent = smallAgent({ files });
      const context = { app: 'shop', answerLimits: { other: 3000 }, policy: allowAll() };
      const session = await agent.source.open({ sessionId: 's1', create: true }, context);
      try {
        const events = await say(session, `babble ${what}`);
        // What needs a person ends the stream, not the prompt, which goes on meanwhile.
        await vi.waitFor(() => expect(agent.journal()).toContain('cancel'));
        const end = endOf(events);
        if (end?.type === 'stream_end' && end.reason === 'input_required')
          events.push(...(await say(session, { kind: 'continue' })));
        expect(endOf(events)).toMatchObject({ reason: 'failed' });
        expect(events.find(({ type }) => type === 'error')).toMatchObject({
          code: 'E_ANSWER_LIMIT',
          details: { limit: 'other', max: 3000 },
        });
        expect(await session.pending()).toEqual([]);
        expect(requestsOf(events).length).toBeLessThan(250);
        expect(texts(await say(session, 'say short'))).toEqual(['short']);
      } finally {
        await session[Symbol.asyncDispose]();
      }
    },
  );
});

test('ATK3-03 permissions that wait at once are bounded as calls of an answer are, and answered ones do not count', async () => {
  await using agent = smallAgent();
  const context = { app: 'shop', answerLimits: { calls: 20 } };
  const session = await agent.source.open({ sessionId: 's1', create: true }, context);
  try {
    const events = await say(session, 'babble permissions');
    await vi.waitFor(() => expect(agent.journal()).toContain('cancel'));
    const end = endOf(events);
    if (end?.type === 'stream_end' && end.reason === 'input_required')
      events.push(...(await say(session, { kind: 'continue' })));
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_ANSWER_LIMIT',
      details: { limit: 'calls', max: 20 },
    });
    expect(await session.pending()).toEqual([]);
    expect(requestsOf(events).length).toBeLessThan(25);
  } finally {
    await session[Symbol.asyncDispose]();
  }
});

test('ATK3-03 so are the files that it asks for at once, and not how many it asks for in all', async () => {
  const files = { readTextFile: async () => 'text', writeTextFile: async () => {} };
  await using agent = smallAgent({ files });
  const context = { app: 'shop', answerLimits: { calls: 1 }, policy: allowAll() };
  const session = await agent.source.open({ sessionId: 's1', create: true }, context);
  try {
    const events = await say(session, 'fs-read a.txt\nfs-read b.txt\nsay done');
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect(requestsOf(events)).toHaveLength(2);
  } finally {
    await session[Symbol.asyncDispose]();
  }
});

test.each(['permissions', 'reads'])('ATK3-03 of %s at once one more than may wait is asked of nobody', async (what) => {
  const files = { readTextFile: async () => 'text', writeTextFile: async () => {} };
  await using agent = smallAgent({ files });
  // Nobody answers, and no policy lets anything run: what is asked waits.
  const context = {
    app: 'shop',
    answerLimits: { calls: 3 },
    policy: { evaluate: () => ({ outcome: 'ask' as const }) },
  };
  const session = await agent.source.open({ sessionId: 's1', create: true }, context);
  try {
    const events = await say(session, `babble ${what}`);
    await vi.waitFor(() => expect(agent.journal()).toContain('cancel'));
    const end = endOf(events);
    if (end?.type === 'stream_end' && end.reason === 'input_required')
      events.push(...(await say(session, { kind: 'continue' })));
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
    expect(requestsOf(events).length).toBeLessThanOrEqual(3);
    expect(await session.pending()).toEqual([]);
  } finally {
    await session[Symbol.asyncDispose]();
  }
});

describe('what it asks permission for', () => {
  test('is asked of a person whatever the policy allows, and done once after a yes', async () => {
    await using agent = smallAgent();
    const session = await agent.open('s1', allowAll());
    const asked = await say(session, 'write a.txt\nsay done');
    expect(endOf(asked)).toMatchObject({ reason: 'input_required' });
    expect(requestsOf(asked)).toMatchObject([
      {
        name: 'acp:edit',
        kind: 'edit',
        handledBy: 'agent',
        args: { path: 'a.txt', title: 'Write a.txt', changes: [{ path: 'a.txt', newText: 'new' }] },
      },
    ]);
    expect(agent.journal()).not.toContainEqual({ wrote: 'a.txt' });
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'approve' });
    const events = await say(session, { kind: 'continue' });
    expect(responsesOf(events)).toMatchObject([{ content: [{ type: 'text', text: 'wrote a.txt' }] }]);
    expect(texts(events)).toEqual(['done']);
    expect(agent.journal().filter((it) => JSON.stringify(it).includes('wrote'))).toEqual([{ wrote: 'a.txt' }]);
    expect(agent.journal()).toContainEqual({ permission: 'yes' });
  });

  test('a no reaches it as a rejection, and nothing is done', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    await say(session, 'write a.txt');
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'deny', reason: 'not today' });
    const events = await say(session, { kind: 'continue' });
    expect(responsesOf(events)).toMatchObject([{ errorType: 'denied' }]);
    expect(texts(events)).toEqual(['not written: no']);
    expect(agent.journal()).not.toContainEqual({ wrote: 'a.txt' });
  });

  test('a policy that denies asks nobody', async () => {
    await using agent = smallAgent();
    const events = await say(await agent.open('s1', denies), 'write a.txt');
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect(responsesOf(events)).toMatchObject([{ errorType: 'denied' }]);
    expect(agent.journal()).toContainEqual({ permission: 'no' });
  });

  test('edited arguments are refused: the agent would run its own', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    await say(session, 'write a.txt');
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'approve', args: { path: 'b.txt' } });
    const events = await say(session, { kind: 'continue' });
    expect(responsesOf(events)).toMatchObject([{ errorType: 'denied' }]);
    expect(agent.journal()).toContainEqual({ permission: 'no' });
    expect(agent.journal()).not.toContainEqual({ wrote: 'a.txt' });
  });

  test('INSP-20 under a host its question says that nobody can edit it, and an edit is refused and not counted as a denial', async () => {
    await using agent = smallAgent();
    const host = createHost({ app: 'shop', agents: [agent.source] });
    const session = await host.open('small', {});
    await say(session, 'write a.txt');
    const [open] = await session.pending();
    expect(open).toMatchObject({ name: 'acp:edit', approval: { fixedArgs: true } });
    const { requestId = '', args, approval } = open ?? {};
    const { previewDigest = '' } = approval ?? {};
    const edited = { kind: 'approve', previewDigest, args: { path: 'b.txt' } } as const;
    const refused = { code: 'E_WRONG_ANSWER', message: expect.stringContaining('approve it without args') };
    await expect(session.respond(requestId, edited)).rejects.toMatchObject(refused);
    const by = { id: 'local' };
    await expect(host.approvals.decide(requestId, edited, { by })).rejects.toMatchObject(refused);
    expect((await session.pending()).map((request) => request.requestId)).toEqual([requestId]);
    expect(agent.journal()).not.toContainEqual({ permission: 'no' });
    // As it was shown is no edit.
    await session.respond(requestId, { kind: 'approve', previewDigest, ...(args ? { args } : {}) });
    await say(session, { kind: 'continue' });
    expect(agent.journal()).toContainEqual({ wrote: 'a.txt' });
    await host.close();
  });

  test('INSP-20 a call that it begins unasked, and policy asks about, cannot be edited either; a file of the host can', async () => {
    await using agent = smallAgent({ files: { writeTextFile: async () => {} } });
    const policy = { evaluate: async () => ({ outcome: 'ask' as const }) };
    const host = createHost({ app: 'shop', agents: [agent.source], policy });
    const session = await host.open('small', {});
    await say(session, 'unasked read');
    const asked = (await session.pending())[0];
    expect(asked).toMatchObject({ name: 'acp:read', approval: { fixedArgs: true } });
    await session.respond(asked?.requestId ?? '', { kind: 'approve' });
    await say(session, { kind: 'continue' });
    await say(session, 'fs-write /b');
    const [write] = await session.pending();
    expect(write?.name).toBe('acp:write_text_file');
    expect(write?.approval).not.toHaveProperty('fixedArgs');
    await host.close();
  });

  test('an agent that only knows "always" is not given more than was said', async () => {
    await using agent = smallAgent({ flags: ['--for-ever-only'] });
    const session = await agent.open();
    await say(session, 'write a.txt');
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'approve' });
    expect(responsesOf(await say(session, { kind: 'continue' }))).toMatchObject([{ errorType: 'denied' }]);
    expect(agent.journal()).toContainEqual({ permission: 'no' });
  });

  test('under a host its approval handler is asked, in the same stream', async () => {
    await using agent = smallAgent();
    const questions: unknown[] = [];
    const host = createHost({
      app: 'shop',
      agents: [agent.source],
      onApproval: (question) => {
        questions.push(question.name);
        return { kind: 'approve', previewDigest: question.approval.previewDigest, by: { id: 'ann' } };
      },
    });
    const session = await host.open('small', {});
    const events = await say(session, 'say first\nwrite a.txt\nsay last');
    expect(questions).toEqual(['acp:edit']);
    expect(texts(events)).toEqual(['first', 'last']);
    expect(agent.journal()).toContainEqual({ wrote: 'a.txt' });
    await host.close();
  });

  test('nobody can be asked: a no', async () => {
    await using agent = smallAgent();
    const host = createHost({ app: 'shop', agents: [agent.source], interactive: false });
    const session = await host.open('small', {});
    await say(session, 'write a.txt');
    expect(agent.journal()).toContainEqual({ permission: 'no' });
    await host.close();
  });
});

describe('what it begins without asking', () => {
  test('reading is recorded', async () => {
    await using agent = smallAgent();
    const events = await say(await agent.open(), 'unasked read');
    expect(requestsOf(events)).toMatchObject([{ name: 'acp:read', handledBy: 'agent', args: { what: 'read' } }]);
    expect(responsesOf(events)).toMatchObject([{ content: [{ text: 'read done' }] }]);
  });

  test('a host’s policy is told what kind of call it is: by default reading asks nobody', async () => {
    await using agent = smallAgent();
    const host = createHost({ app: 'shop', agents: [agent.source] });
    const session = await host.open('small', {});
    expect(endOf(await say(session, 'unasked read'))).toMatchObject({ reason: 'completed' });
    await host.close();
  });

  test.each([
    ['a kind that has to be asked for', 'unasked execute\nsay on', undefined],
    ['a kind that a policy denies', 'unasked read\nsay on', denies],
  ] as [string, string, PolicyEvaluator | undefined][])('%s: it is stopped', async (_, script, policy) => {
    await using agent = smallAgent();
    const events = await say(await agent.open('s1', policy), script);
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_AGENT_UNASKED' });
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
    expect(agent.journal()).toContain('cancel');
  });
});

describe('what it does without an approval, once it has asked', () => {
  test.each([
    ['after a no', 'deny', /without an approval/],
    ['before the answer', 'deny', /without an approval/],
    ['something else', 'approve', /another call than the one that was allowed/],
    ['another kind', 'approve', /another call than the one that was allowed/],
    ['the same id again', 'approve', /without asking/],
    ['a read that is none', 'approve', /without asking/],
  ] as const)('%s: it is stopped', async (way, outcome, why) => {
    await using agent = smallAgent({ askWithinMs: 1_000 });
    const host = createHost({
      app: 'shop',
      agents: [agent.source],
      onApproval: ({ approval }) => ({ kind: outcome, previewDigest: approval.previewDigest, by: { id: 'ann' } }),
    });
    const events = await say(await host.open('small', {}), `sneak ${way}\nhang`);
    const errors = events.filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([{ code: 'E_AGENT_UNASKED', message: expect.stringMatching(why) }]);
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
    await host.close();
  });
});

describe('files of the host', () => {
  test('reads run, writes ask, both stand in the log', async () => {
    const files = new Map([['/a', 'text of a']]);
    await using agent = smallAgent({
      files: {
        readTextFile: async ({ path }) => files.get(path) ?? '',
        writeTextFile: async ({ path, content }) => {
          files.set(path, content);
        },
      },
    });
    const session = await agent.open();
    const events = await say(session, 'fs-read /a\nfs-write /b');
    expect(texts(events)).toEqual(['text of a']);
    expect(requestsOf(events)).toMatchObject([{ name: 'acp:read_text_file' }, { name: 'acp:write_text_file' }]);
    expect(files.has('/b')).toBe(false);
    const [open] = await session.pending();
    await session.respond(open?.requestId ?? '', { kind: 'approve' });
    expect(texts(await say(session, { kind: 'continue' }))).toEqual(['written']);
    expect(files.get('/b')).toBe('by the host');
  });

  test('are not there unless they are given', async () => {
    await using agent = smallAgent();
    expect(texts(await say(await agent.open(), 'fs-read /etc/hostname'))).toEqual(['refused']);
  });
});

describe('ends', () => {
  test('an abort cancels the prompt; the next turn sees nothing of it', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    const stream = session.stream('say started\nhang');
    const events = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'message' && event.role === 'agent') void stream.abort('enough');
    }
    expect(endOf(events)).toMatchObject({ reason: 'aborted' });
    expect(texts(await collect(session.stream('say next')))).toEqual(['next']);
    expect(agent.journal()).toContain('cancel');
    expect(agent.journal().filter((it) => (it as { new?: unknown }).new)).toHaveLength(1);
  });

  test('an abort while a person is asked: the agent hears that it was cancelled', async () => {
    await using agent = smallAgent();
    const session = await agent.open();
    await say(session, 'write a.txt');
    await session.abort({ reason: 'no more' });
    expect(await session.pending()).toEqual([]);
    expect(texts(await say(session, 'say next'))).toEqual(['next']);
    expect(agent.journal()).toContainEqual({ permission: 'cancelled' });
    expect(agent.journal()).not.toContainEqual({ wrote: 'a.txt' });
  });

  test('one that does not hear a cancel is ended, and started again', async () => {
    await using agent = smallChild({ cancelTimeoutMs: 50 });
    const session = await agent.open();
    const stream = session.stream('say started\nhang deaf');
    for await (const event of stream)
      if (event.type === 'message' && event.role === 'agent') void stream.abort('enough');
    expect(texts(await collect(session.stream('say again')))).toEqual(['again']);
    expect(agent.journal().filter((it) => (it as { new?: unknown }).new)).toHaveLength(2);
  });

  test('limits of time that are none leave it be', async () => {
    await using agent = smallAgent({ startTimeoutMs: Number.POSITIVE_INFINITY, cancelTimeoutMs: 2 ** 31 });
    const session = await agent.open();
    const stream = session.stream('say started\nhang');
    for await (const event of stream)
      if (event.type === 'message' && event.role === 'agent') void stream.abort('enough');
    expect(texts(await collect(session.stream('say next')))).toEqual(['next']);
    expect(agent.journal().filter((it) => (it as { new?: unknown }).new)).toHaveLength(1);
  });

  test('its death is a typed error; the next message starts it and tells it what was said', async () => {
    await using agent = smallChild();
    const session = await agent.open();
    await say(session, 'say remember me');
    const events = await say(session, 'die');
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_AGENT_PROCESS',
      status: 'UNAVAILABLE',
      retryable: true,
    });
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
    expect(texts(await say(session, 'say back'))).toContain('back');
    const prompts = agent.journal().filter((it) => (it as { prompt?: unknown }).prompt);
    expect(JSON.stringify(prompts.at(-1))).toContain('You: remember me');
  });

  test('its death settles a call that was running there as interrupted', async () => {
    await using agent = smallChild();
    const session = await agent.open();
    const events = await say(session, 'unasked read\ndie');
    expect(types(events)).toContain('tool_response');
    expect(await session.pending()).toEqual([]);
  });

  test.each([
    ['no such program', { command: '/no/such/program', args: [] }, 'E_AGENT_PROCESS'],
    ['another version of the protocol', { flags: ['--old'] }, 'E_UNSUPPORTED'],
    ['nobody is signed in', { flags: ['--signed-out'] }, 'E_AGENT_PROTOCOL'],
  ])('%s is a typed error', async (_, options, code) => {
    await using agent = 'command' in options ? smallChild(options) : smallAgent(options);
    const events = await say(await agent.open(), 'say hello');
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code });
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
  });

  test('closing the session ends the process', async () => {
    await using agent = smallChild();
    const session = await agent.open();
    await say(session, 'say hello');
    const pid = Number(/s-(\d+)/.exec(JSON.stringify(await collect(session.events())))?.[1]);
    expect(() => process.kill(pid, 0)).not.toThrow();
    await session[Symbol.asyncDispose]();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('a session that is opened again is loaded by the agent, and its replay is not said twice', async () => {
    const sessions = new InMemorySessionService();
    await using agent = smallAgent({ flags: ['--keeps'], store: sessions });
    const first = await agent.open();
    await say(first, 'say one');
    await first[Symbol.asyncDispose]();
    const second = await agent.open();
    expect(texts(await collect(second.stream('say two')))).toEqual(['two']);
    expect(agent.journal()).toMatchObject([
      {},
      { new: agent.folder },
      { prompt: ['say one'] },
      {},
      { load: 'kept-1' },
      { prompt: ['say two'] },
    ]);
  });
});
