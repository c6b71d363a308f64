import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { AgentSource, AnswerLimits, ContentPart, ToolDescriptor, ToolResult } from '../../src/contracts/index.ts';
import { DEFAULT_ANSWER_LIMITS, hooks } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent, subagentTool } from '../../src/index.ts';
import type { Model, ModelResponse } from '../../src/runtime/index.ts';
import { InMemoryArtifactService, InMemorySessionService } from '../../src/runtime/index.ts';
import { lyingExecutor, ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  door,
  endOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  results,
  say,
  slowTool,
  tool,
} from './kit.ts';

const call = (args: Record<string, unknown> = {}): ContentPart => ({
  type: 'function_call',
  id: '',
  name: 'look',
  args,
});
const answer = (...parts: ContentPart[]): ModelResponse => ({ content: { role: 'model', parts }, turnComplete: true });
const piece = (part: ContentPart): ModelResponse => ({ content: { role: 'model', parts: [part] }, partial: true });

/** A model that goes on for as long as it is not told to end. */
function endless(part: ContentPart): Model & { isLeft: boolean } {
  const model = {
    name: 'endless',
    isLeft: false,
    async *generate(_: unknown, { signal }: { signal: AbortSignal }) {
      try {
        while (!signal.aborted) {
          yield piece(part);
          await turn();
        }
      } finally {
        model.isLeft = true;
      }
    },
  };
  return model;
}

async function failing(model: Model, answerLimits?: AnswerLimits) {
  const look = notingTool('look');
  const { host } = hostOf(bot(model), {
    tools: [look.tool],
    policy: allowAll(),
    ...(answerLimits ? { answerLimits } : {}),
  });
  const session = await host.open('bot');
  const events = await say(session, 'go');
  expect([endOf(events).reason, look.runs]).toEqual(['failed', []]);
  expect(await session.pending()).toEqual([]);
  const [error] = ofType(events, 'error');
  expect(error).toMatchObject({ code: 'E_ANSWER_LIMIT', status: 'RESOURCE_EXHAUSTED', retryable: false });
  return { error, events };
}

const once = (frame: ModelResponse): Model => ({
  name: 'once',
  async *generate() {
    yield frame;
  },
});

/** Another party's executor, which asks for one call and keeps what it is handed. */
function foreign(taken: unknown[]): AgentSource {
  const calls = [{ id: 'c1', name: 'theirs', args: {} }];
  const source = lyingExecutor({ name: 'theirs', calls, lies: { hears: (inputs) => void taken.push(inputs) } });
  return {
    ...source,
    async open(...given) {
      const session = await source.open(...given);
      const respond = session.respond?.bind(session);
      return Object.assign(session, {
        respond(...answer: Parameters<NonNullable<typeof respond>>) {
          taken.push(answer);
          return respond?.(...answer);
        },
      });
    },
  };
}

describe('answerLimits', () => {
  const cases: [keyof AnswerLimits, number, Model][] = [
    ['text', 100, endless({ type: 'text', text: 'z'.repeat(30) })],
    ['thoughts', 100, endless({ type: 'thought', thought: 'z'.repeat(30) })],
    ['frames', 5, endless({ type: 'text', text: '' })],
    [
      'idleMinutes',
      0.0001,
      {
        name: 'mute',
        generate: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) as never,
      },
    ],
    ['minutes', 0.0001, endless({ type: 'text', text: '' })],
    ['text', 100, once(answer({ type: 'text', text: 'z'.repeat(101) }, call()))],
    ['thoughts', 100, once(answer({ type: 'thought', thought: 'z'.repeat(101) }, call()))],
    ['args', 100, once(answer(call({ q: 'z'.repeat(60) }), call({ q: 'z'.repeat(60) })))],
    ['calls', 3, once(answer(call(), call(), call(), call()))],
  ];

  test.each(cases)(
    'ATT-B9 an answer over %s: %d ends the model call, and nothing of it runs',
    async (limit, max, model) => {
      const { error, events } = await failing(model, { [limit]: max });
      expect(error).toMatchObject({
        details: { limit, max },
        message: expect.stringContaining(`answerLimits.${limit}`),
      });
      const words = ofType(events, 'message').filter(({ role, partial }) => role === 'agent' && !partial);
      expect(JSON.stringify(words.map(({ content }) => content)).length).toBeLessThan(300);
      if ('isLeft' in model) await vi.waitFor(() => expect(model.isLeft).toBe(true));
    },
  );

  test('ATT-B6 without a word of the host 1,000 calls are taken in one answer, one more is not', async () => {
    const many = Array.from({ length: DEFAULT_ANSWER_LIMITS.calls + 1 }, () => call());
    const { error } = await failing(once(answer(...many)));
    expect(error).toMatchObject({ details: { limit: 'calls', max: 1_000 } });
  });

  test('ATT-B9 an answer that is as large as allowed is taken; the bound counts each answer by itself', async () => {
    const look = notingTool('look');
    const model = new ScriptedModel([
      { calls: [['look'], ['look']] },
      { calls: [['look'], ['look']] },
      'x'.repeat(100),
    ]);
    const { host } = hostOf(bot(model), {
      tools: [look.tool],
      policy: allowAll(),
      answerLimits: { calls: 2, text: 100 },
    });
    expect(endOf(await say(await host.open('bot'), 'go')).reason).toBe('completed');
    expect(look.runs).toHaveLength(4);
  });

  test('ATT-B9 limits that are none are refused', () => {
    for (const answerLimits of [{ text: 0 }, { calls: '3' }, { words: 3 }]) {
      expect(() => hostOf(bot(['x']), { answerLimits: answerLimits as never })).toThrow(/answerLimits/);
    }
  });
});

test('CASE-F3 what a model has shown stays as it was shown, whatever it does with its own frame', async () => {
  const model: Model = {
    name: 'm',
    async *generate() {
      const part = { type: 'text' as const, text: '' };
      for (const word of ['one ', 'two ', 'three']) {
        part.text = word;
        yield piece(part);
      }
      yield answer({ type: 'text', text: 'one two three' });
    },
  };
  const { host } = hostOf(bot(model));
  const shown = ofType(await say(await host.open('bot'), 'go'), 'message').filter(({ partial }) => partial);
  expect(shown.map(({ content }) => content)).toEqual(
    ['one ', 'two ', 'three'].map((text) => [{ type: 'text', text }]),
  );
});

describe('maxResultBytes', () => {
  const MAX = 10_000;
  const big = 'x'.repeat(100_000);
  const isBounded = (model: ScriptedModel) => JSON.stringify(model.requests[1]?.contents.at(-1)).length < 2 * MAX;

  test.each(['host', 'agent'] as const)(
    'CASE-F2 a result of a tool of the %s is cut, and the whole is kept',
    async (where) => {
      const kept: string[] = [];
      const made = tool('big', () => big);
      const model = new ScriptedModel([{ calls: [['big']] }, 'end']);
      const { host } = hostOf(bot(model, where === 'agent' ? { tools: [made] } : {}), {
        tools: where === 'host' ? [made] : [],
        policy: allowAll(),
        maxResultBytes: MAX,
        spill: async (name, body) => {
          kept.push(String(body));
          return name;
        },
      });
      await say(await host.open('bot'), 'go');
      expect([isBounded(model), kept]).toEqual([true, [big]]);
      expect(JSON.stringify(model.requests[1]?.contents.at(-1))).toContain('kept as artifact');
    },
  );

  test.each(['host', 'agent'] as const)(
    'ATK-15 a result of a tool of the %s is not waited for where spill does not settle: the call has its result, cut',
    async (where) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const keeping = door();
        const made = tool('big', () => big);
        const model = new ScriptedModel([{ calls: [['big']] }, 'end']);
        const { host } = hostOf(bot(model, where === 'agent' ? { tools: [made] } : {}), {
          tools: where === 'host' ? [made] : [],
          policy: allowAll(),
          maxResultBytes: MAX,
          spill: () => {
            keeping.open();
            return new Promise(() => {});
          },
        });
        const going = follow(await host.open('bot'), 'go');
        await keeping.opened;
        await vi.advanceTimersByTimeAsync(30_000);
        const events = await going.ended;
        expect(endOf(events).reason).toBe('completed');
        expect(results(events).big).toContain('the rest was dropped');
        expect(ofType(events, 'tool_response')).not.toContainEqual(expect.objectContaining({ isError: true }));
        expect(isBounded(model)).toBe(true);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  type Late = 'spill' | 'a hook behind it' | 'a call behind it';

  /** A call whose handler ends at once, and whose result waits for something that never comes; then an abort. */
  async function abortedBehind(late: Late, where: 'host' | 'agent', annotations: object, end: 'session' | 'call') {
    const waits = door();
    const forEver = () => {
      waits.open();
      return new Promise<never>(() => {});
    };
    const returned = { spill: big, 'a hook behind it': 'PAID', 'a call behind it': tailing }[late];
    const pay = tool('pay', () => returned, { makesTailCalls: true, annotations });
    const own = where === 'agent';
    const hooks = { supportedHookPoints: () => ['after_tool'], fire: forEver };
    const { host } = hostOf(
      bot([{ calls: [['pay']] }, 'end'], {
        ...(own ? { tools: [pay] } : {}),
        ...(own && late === 'a hook behind it' ? { afterTool: forEver } : {}),
      }),
      {
        tools: own ? [] : [pay, tool('slow', forEver)],
        policy: allowAll(),
        maxResultBytes: MAX,
        ...(late === 'spill' ? { spill: forEver } : {}),
        ...(late === 'a hook behind it' && !own ? { hooks: hooks as never } : {}),
      },
    );
    const session = await host.open('bot');
    const going = follow(session, 'go');
    await waits.opened;
    const requestId = ofType(going.events, 'tool_request')[0]?.requestId ?? '';
    await session.abort({ reason: 'stop', ...(end === 'call' ? { requestId } : {}) });
    const events = await going.ended;
    const stored = ofType(await all(session.events()), 'tool_response').find(({ name }) => name === 'pay');
    expect(ofType(events, 'tool_response').find(({ name }) => name === 'pay')?.content).toEqual(stored?.content);
    await host.close();
    return { stored, text: JSON.stringify(stored?.content), reason: endOf(events).reason };
  }
  const tailing = { content: [{ type: 'text', text: 'PAID' }], tailCalls: [{ name: 'slow', args: {} }] };

  test.each<[Late, 'host' | 'agent', object]>([
    ['spill', 'host', {}],
    ['spill', 'host', { idempotent: true }],
    ['spill', 'agent', {}],
    ['a hook behind it', 'host', {}],
    ['a hook behind it', 'agent', {}],
  ])(
    'ATK-15 ATK2-08 an abort while %s of a tool of the %s takes its time keeps the result; %j',
    async (late, where, how) => {
      const { stored, text, reason } = await abortedBehind(late, where, how, 'session');
      expect(reason).toBe('aborted');
      expect(stored?.errorType).toBeUndefined();
      expect(text).toContain(late === 'spill' ? 'since the run was aborted while it was being kept' : 'PAID');
    },
  );

  test('ATK2-08 an abort while a call behind it takes its time keeps the result, and says what became of that', async () => {
    const { text, reason } = await abortedBehind('a call behind it', 'host', {}, 'session');
    expect([reason, text]).toEqual(['aborted', expect.stringMatching(/PAID.*\[slow\].*interrupted: stop/)]);
  });

  test.each<Late>(['spill', 'a hook behind it'])(
    'ATK2-08 sibling: so does the end of this one call while %s takes its time',
    async (late) => {
      const { stored, reason } = await abortedBehind(late, 'host', {}, 'call');
      expect([reason, stored?.errorType]).toEqual(['completed', undefined]);
    },
  );

  test.each([{ idempotent: true }, {}])(
    'ATK2-15 an abort while the result of one call is being stored keeps that of another that has ended; %j',
    async (annotations) => {
      const storing = door();
      const stored = door();
      const store = new InMemorySessionService();
      const gated = (name: 'append' | 'appendUnderLease') => {
        const append = (store as never as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
        if (!append) return;
        Object.assign(store, {
          [name]: async (...given: unknown[]) => {
            if (JSON.stringify(given[1]).includes('"A done"')) {
              storing.open();
              await stored.opened;
            }
            return append.apply(store, given);
          },
        });
      };
      gated('append');
      const b = slowTool('b', { annotations });
      const { host } = hostOf(bot([{ calls: [['a'], ['b']] }, 'end']), {
        store,
        tools: [tool('a', () => 'A done', { annotations }), b.tool],
        policy: allowAll(),
      });
      const session = await host.open('bot');
      const going = follow(session, 'go');
      await storing.opened;
      b.finish('B done');
      await turn();
      const aborting = session.abort({ reason: 'stop' });
      await turn();
      stored.open();
      await aborting;
      expect(endOf(await going.ended).reason).toBe('aborted');
      expect(results(await all(session.events()))).toEqual({ a: 'A done', b: 'B done' });
      await host.close();
    },
  );

  test('ATK-29 spill is given a name for each result that no other has, and that a file can have', async () => {
    const kept = new Map<string, string>();
    const name = 'export';
    const made = tool(name, (_, context) => `${context?.userId} `.repeat(100_000));
    // Such ids are the executor's own: each of its sessions has the same.
    const calls = ['c1', '../../etc/passwd'].map((id) => ({ id, name, args: {} }));
    const host = createHost({
      ...{ app: 'desk', tools: [made], policy: allowAll(), agents: [lyingExecutor({ calls })], maxResultBytes: MAX },
      spill: async (as, body) => {
        expect(kept.has(as)).toBe(false);
        kept.set(as, String(body).split(' ')[0] ?? '');
        return as;
      },
    });
    for (const userId of ['anna', 'bobby']) {
      await all((await host.open('liar', { userId, sessionId: 's', create: true })).stream('go'));
    }
    expect([...kept.values()].toSorted()).toEqual(['anna', 'anna', 'bobby', 'bobby']);
    for (const as of kept.keys()) expect(as).toMatch(/^result-(c1|_etc_passwd)[-\w]*-[0-9a-f-]{36}\.txt$/);
    await host.close();
  });

  test.each(['host', 'agent'] as const)(
    'CASE-F2 a result that a hook gives instead of a tool of the %s is cut',
    async (where) => {
      const made = tool('big', () => 'small');
      const model = new ScriptedModel([{ calls: [['big']] }, 'end']);
      const { host } = hostOf(bot(model, where === 'agent' ? { tools: [made] } : {}), {
        tools: where === 'host' ? [made] : [],
        policy: allowAll(),
        maxResultBytes: MAX,
        hooks: hooks({ beforeTool: () => ({ action: 'block', modifications: { result: big } }) }),
      });
      await say(await host.open('bot'), 'go');
      expect(isBounded(model)).toBe(true);
    },
  );

  const offered: ToolDescriptor = { name: 'theirs', description: '', inputSchema: { type: 'object' } };
  const handedIn: ToolResult = { content: [{ type: 'text', text: big }] };

  test.each(['respond', 'stream'] as const)(
    'CASE-F2 a result that a client hands in by %s is cut, and the whole is an artifact',
    async (way) => {
      const model = new ScriptedModel([{ calls: [['theirs']] }, 'end']);
      const artifacts = new InMemoryArtifactService();
      const source = fromAgent(bot(model), { services: { artifacts } });
      const session = await source.open({ sessionId: 's', create: true }, { app: 'shop', maxResultBytes: MAX });
      await say(session, 'go', { tools: [offered] });
      const { requestId } = await only(session);
      if (way === 'respond') {
        const answers = [1, 2].map(() => session.respond(requestId, { kind: 'result', result: handedIn }));
        const [first, second] = await Promise.allSettled(answers);
        expect(first).toMatchObject({ value: { status: 'settled' } });
        expect(second).toMatchObject({ reason: { code: 'E_REQUEST_CLOSED' } });
      }
      const input = way === 'respond' ? [] : [{ kind: 'tool_result' as const, requestId, result: handedIn }];
      const events = await say(session, [...input, { kind: 'continue' }], { tools: [offered] });
      expect(endOf(events).reason).toBe('completed');
      expect(isBounded(model)).toBe(true);
      const key = { app: 'shop', userId: 'local', id: 's' };
      const [name = ''] = await artifacts.list(key);
      const kept = await artifacts.load(key, name);
      expect(Buffer.from(kept?.data ?? '', 'base64').toString()).toBe(big);
      expect(JSON.stringify(model.requests[1]?.contents.at(-1))).toContain(`kept as artifact \\"${name}\\"`);
      expect(ofType(await all(session.events()), 'custom').find(({ kind }) => kind === 'artifact_delta')).toMatchObject(
        {
          data: { [name]: 1 },
        },
      );
    },
  );

  test.each(['respond', 'stream'] as const)(
    "CASE-F2 a result that a client hands in by %s to another party's executor is cut on the way",
    async (way) => {
      const taken: unknown[] = [];
      const host = createHost({
        app: 'shop',
        agents: [foreign(taken)],
        policy: allowAll(),
        maxResultBytes: MAX,
        warn: () => {},
      });
      const session = await host.open('theirs');
      await all(session.stream('go', { tools: [offered] }));
      const answer = { kind: 'result' as const, result: handedIn };
      if (way === 'respond') await session.respond('c1', answer);
      else await all(session.stream({ kind: 'tool_result', requestId: 'c1', result: handedIn }));
      const text = JSON.stringify(taken);
      expect(text.length).toBeLessThan(2 * MAX);
      expect(text).toContain('the rest was dropped');
    },
  );

  test.each(['host', 'agent'] as const)(
    'CASE-F2 a result of a tool of the %s is cut, and the whole is an artifact of the log',
    async (where) => {
      const artifacts = new InMemoryArtifactService();
      const made = tool('read', () => big);
      const model = new ScriptedModel([{ calls: [['read']] }, 'end']);
      const { host } = hostOf(bot(model, where === 'agent' ? { tools: [made] } : {}), {
        from: { services: { artifacts } },
        tools: where === 'host' ? [made] : [],
        policy: allowAll(),
        maxResultBytes: MAX,
      });
      const session = await host.open('bot', { sessionId: 's', create: true });
      await say(session, 'go');
      const key = { app: 'shop', userId: 'local', id: 's' };
      const names = await artifacts.list(key);
      const [name = ''] = names;
      expect(Buffer.from((await artifacts.load(key, name))?.data ?? '', 'base64').toString()).toBe(big);
      const told = ofType(await all(session.events()), 'custom').filter(({ kind }) => kind === 'artifact_delta');
      expect([isBounded(model), names.length, told]).toEqual([
        true,
        1,
        [expect.objectContaining({ data: { [name]: 1 } })],
      ]);
      expect(JSON.stringify(model.requests[1]?.contents.at(-1))).toContain(`kept as artifact \\"${name}\\"`);
    },
  );

  test('CASE-F2 what is cut off a result in a sub-agent is an artifact of its own session', async () => {
    const artifacts = new InMemoryArtifactService();
    const saved: string[] = [];
    const save = artifacts.save.bind(artifacts);
    artifacts.save = (key, ...given) => {
      saved.push(key.id);
      return save(key, ...given);
    };
    const script = new ScriptedModel([{ calls: [['big']] }, 'end']);
    const expert = new LlmAgent({ name: 'expert', description: 'knows', model: script });
    const { host } = hostOf(bot([{ calls: [['expert', { request: 'go' }]] }, 'end']), {
      tools: [tool('big', () => big), subagentTool(fromAgent(expert, { services: { artifacts } }))],
      policy: allowAll(),
      maxResultBytes: MAX,
    });
    await say(await host.open('bot', { sessionId: 's', create: true }), 'go');
    expect([isBounded(script), saved]).toEqual([true, [expect.stringMatching(/^s\./)]]);
  });

  test('T5 the result of a hook that is asked before its host is an artifact of the log', async () => {
    const artifacts = new InMemoryArtifactService();
    const model = new ScriptedModel([{ calls: [['read']] }, 'end']);
    const beforeTool = () => ({ result: big });
    const { host } = hostOf(bot(model, { tools: [tool('read', () => 'never')], beforeTool }), {
      from: { services: { artifacts } },
      policy: allowAll(),
      maxResultBytes: MAX,
    });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    const [name = ''] = await artifacts.list({ app: 'shop', userId: 'local', id: 's' });
    const told = ofType(await all(session.events()), 'custom').filter(({ kind }) => kind === 'artifact_delta');
    expect([isBounded(model), told]).toEqual([true, [expect.objectContaining({ data: { [name]: 1 } })]]);
  });

  test('CASE-F2 a result with those of its tail calls is cut as one', async () => {
    const part = tool('part', () => 'y'.repeat(MAX - 200));
    const first = tool(
      'first',
      () => ({
        content: [],
        tailCalls: Array.from({ length: 8 }, () => ({ name: 'part', args: {} })),
      }),
      { makesTailCalls: true },
    );
    const model = new ScriptedModel([{ calls: [['first']] }, 'end']);
    const { host } = hostOf(bot(model), { tools: [first, part], policy: allowAll(), maxResultBytes: MAX });
    await say(await host.open('bot'), 'go');
    expect(isBounded(model)).toBe(true);
  });
});

test.each<[string, () => Promise<boolean>, string, number]>([
  ['never answers', () => new Promise<boolean>(() => {}), 'input_required', 0],
  ['answers no in time', async () => false, 'completed', 1],
])('ATT-7 a needsApproval that %s holds up nobody', async (_, needsApproval, reason, runs) => {
  const look = notingTool('look', { needsApproval });
  const { host } = hostOf(bot([{ calls: [['look']] }, 'done']), {
    tools: [look.tool],
    policy: allowAll(),
    policyTimeoutMs: runs === 1 ? 10_000 : 5,
  });
  const session = await host.open('bot');
  expect(endOf(await say(session, 'go')).reason).toBe(reason);
  expect(look.runs).toHaveLength(runs);
  expect(await host.approvals.list()).toHaveLength(1 - runs);
  if (runs === 1) return;
  const question = await only(session);
  expect(question.approval?.reason).toContain('there was no answer within 5 ms');
  await session.respond(question.requestId, { kind: 'approve' });
  await say(session, { kind: 'continue' });
  expect(look.runs).toHaveLength(1);
});
