import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PolicyEvaluator, ToolApprovalInput } from '../../src/contracts/index.ts';
import { hookFailed } from '../../src/runtime/hooks/hook-wait.ts';
import {
  artifactBody,
  createEngine,
  createEvent,
  exitLoopTool,
  InMemoryArtifactService,
  InMemorySessionService,
  LoopAgent,
  ParallelAgent,
  Runner,
  sealEvent,
  signalsOf,
} from '../../src/runtime/index.ts';
import { abortCall } from '../../src/runtime/session/abort-part.ts';
import { answerRequest } from '../../src/runtime/session/answer-request.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, gate, key, llm, responses, tool } from './kit.ts';
import { reasonOf, resumed } from './resumed.ts';
import { codeOf, exists, note, once, opened } from './shared-store.ts';

const calls = (...names: string[]) => ({ calls: names.map((name) => [name] as const) });

test('calls before an exclusive one are begun together, it alone behind them', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const tools = names.map((name) => tool(name, () => 1, name === 'c' ? { annotations: { exclusive: true } } : {}));
  const { say, log } = bench(llm('bot', new ScriptedModel([calls(...names), 'done']), { tools }));
  expect(endOf(await say('hi'))).toBe('completed');
  const started = (await log()).flatMap(({ actions }) => (actions.started ? [actions.started.length] : []));
  expect(started).toEqual([2, 1, 1]);
});

test('a hook that fails has its cause with it', () => {
  const cause = new Error('why');
  expect(hookFailed('before_tool', 'why', cause)).toMatchObject({
    code: 'E_HOOK_FAILED',
    cause,
    message: 'a before_tool hook failed: why',
  });
  expect('cause' in hookFailed('before_tool', 'why')).toBe(false);
});

test('signals are those that were given', () => {
  expect(signalsOf({})).toBeUndefined();
  expect(signalsOf({ escalate: true })).toStrictEqual({ escalate: true });
  expect(signalsOf({ skipSummarization: true })).toStrictEqual({ skipSummarization: true });
  expect(signalsOf({ transferToAgent: '' })).toStrictEqual({ transferToAgent: '' });
});

test.each(['5', Number.NaN, null])('a cap on model calls is a number: %j is none', (maxLlmCalls) => {
  const make = () =>
    new Runner({ app: 'shop', agent: llm('bot', new ScriptedModel([])), limits: { maxLlmCalls } as never });
  expect(make).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
});

test('a hook behind a tool that returns nothing leaves the result as it is', async () => {
  const agent = llm('bot', new ScriptedModel([calls('look'), 'done']), {
    tools: [tool('look', () => ({ seen: 1 }))],
    afterTool: () => undefined,
  });
  expect(responses(await bench(agent).say('hi')).look).toEqual({ seen: 1 });
});

test('a branch that fails ends what runs beside it', async () => {
  const begun = gate();
  const signals: AbortSignal[] = [];
  const wait = tool('wait', (_, { signal }) => {
    signals.push(signal);
    begun.open();
    return new Promise(() => {});
  });
  const waits = llm('waits', new ScriptedModel([calls('wait')]), { tools: [wait] });
  const fails = llm('fails', {
    name: 'm',
    async *generate() {
      await begun.opened;
      yield { errorCode: 'x' };
    },
  });
  const events = await bench(new ParallelAgent({ name: 'all', subAgents: [waits, fails] })).say('hi');
  expect(endOf(events)).toBe('failed');
  expect(signals.map(({ reason }) => (reason as Error).message)).toEqual(['branch all.fails failed']);
});

test('a run that its author wants again is decided on anew', async () => {
  const approved = { decisions: { c1: { outcome: 'approved' as const, by: 'user:ann' } } };
  const r = await resumed(
    (f) => {
      f.call(['c1']);
      f.act({ ...approved, started: ['c1'] });
    },
    { tool: { onUnknownOutcome: () => 'retry' } },
  );
  await r.go();
  const decided = (await r.log()).flatMap(({ actions }) => actions.decisions?.c1 ?? []);
  expect(decided.map(({ by }) => by)).toEqual(['user:ann', 'user:ann']);
  expect((await r.log()).flatMap(({ actions }) => actions.started ?? [])).toEqual(['c1', 'c1']);
});

test('a host’s call that has begun is begun again only where that is said', async () => {
  const r = await resumed(
    (f) => {
      f.call(['c1'], {}, { handledBy: 'host' });
      f.act({ decisions: { c1: { outcome: 'approved', by: 'policy' } }, started: ['c1'] });
    },
    { tools: [tool('tool c1', undefined)] },
  );
  const approve: ToolApprovalInput = { kind: 'tool_approval', requestId: 'c1' };
  expect(await codeOf(r.go(approve))).toBe('E_REQUEST_CLOSED');
  expect(await codeOf(r.go({ ...approve, rerun: false } as never))).toBe('E_REQUEST_CLOSED');
  expect(await codeOf(r.go({ ...approve, rerun: true } as never))).toBe('done');
  expect((await r.log()).flatMap(({ actions }) => actions.started ?? [])).toEqual(['c1', 'c1']);
});

test('policy is asked what to leave out with the mode of the stream before that of the session', async () => {
  const modes: unknown[] = [];
  const policy: PolicyEvaluator = {
    evaluate: () => ({ outcome: 'allow' }),
    getExcluded: (scope) => {
      modes.push(scope?.permissionMode);
      return [];
    },
  };
  const left = (f: Parameters<Parameters<typeof resumed>[0]>[0]) => {
    f.act({ config: { permissionMode: 'plan' } });
    f.act({ end: { reason: 'aborted' } });
  };
  await (await resumed(left, { policy })).go();
  await (await resumed(left, { policy })).go({ kind: 'continue' }, { permissionMode: 'default' as never });
  expect(modes).toEqual(['plan', 'default']);
});

describe('a call that is ended while nothing runs', () => {
  const left = (f: Parameters<NonNullable<Parameters<typeof opened>[0]>>[0]) => void f.call(['c1', 'c2']);
  const theirs = () =>
    note('res:c1', {
      author: 'bot',
      content: { role: 'user', parts: [{ type: 'function_response', id: 'c1', name: 'f', response: {} }] },
    });

  test('is closed with the wish that it may end elsewhere, and once', async () => {
    const { live, log } = await opened(left);
    await abortCall(live, 'c1', 'not that');
    const closed = (await log()).at(-1);
    expect(closed).toMatchObject({
      id: 'res:c1',
      streamId: '',
      actions: { abort: { reason: 'not that', requestId: 'c1' } },
    });
    await abortCall(live, 'c1', 'again');
    await abortCall(live, 'gone', 'again');
    expect((await log()).at(-1)).toEqual(closed);
    expect([...live.fold.open.keys()]).toEqual(['c2']);
  });

  test('keeps the answer that somebody else gave in the same moment', async () => {
    const { live, sessions, log } = await opened(left);
    once(sessions, () => sessions.theirs(theirs()));
    await abortCall(live, 'c1', 'not that');
    expect((await log()).filter(({ id }) => id === 'res:c1')).toMatchObject([
      { content: { parts: [{ response: {} }] } },
    ]);
    const lying = await opened(left);
    lying.sessions.before = () => {
      throw exists();
    };
    expect(await codeOf(abortCall(lying.live, 'c1', 'not that'))).toBe('E_EVENT_EXISTS');
  });
});

test('a large result that is handed in beside a run is kept whole, once', async () => {
  const artifacts = new InMemoryArtifactService();
  const engine = createEngine(
    { agent: llm('bot', new ScriptedModel([])), services: { artifacts }, maxResultBytes: 1000 },
    key,
  );
  const { live, sessions, log } = await opened((f) => void f.call(['c1'], {}, { handledBy: 'host' }));
  once(sessions, () => sessions.theirs(note('between')));
  const text = 'x'.repeat(5000);
  const answer = { kind: 'result' as const, result: { content: [{ type: 'text' as const, text }] } };
  expect(await answerRequest(live, engine, 'c1', answer)).toEqual({ status: 'settled' });
  const stored = (await log()).at(-1);
  const [name = ''] = await artifacts.list(key);
  expect([await artifacts.versions(key, name), stored?.actions.artifactDelta]).toEqual([[1], { [name]: 1 }]);
  expect(JSON.stringify(stored).length).toBeLessThan(3000);
});

test('what was open before is open since then, whatever is added', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  const call = (id: string) =>
    createEvent({
      author: 'bot',
      content: { role: 'model', parts: [{ type: 'function_call', id, name: 'f', args: {} }] },
    });
  vi.setSystemTime(1000);
  await sessions.append(key, [call('a')]);
  vi.setSystemTime(2000);
  await sessions.append(key, [call('b')]);
  expect((await sessions.openCalls(key)).map(({ callId, openedAt }) => [callId, openedAt])).toEqual([
    ['a', 1000],
    ['b', 2000],
  ]);
});

test('calls that are made again are listed in the order in which they were made last', async () => {
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  const parts = (...ids: string[]) => ids.map((id) => ({ type: 'function_call' as const, id, name: 'f', args: {} }));
  for (const ids of [
    ['a', 'b'],
    ['b', 'a'],
  ])
    await sessions.append(key, [createEvent({ author: 'bot', content: { role: 'model', parts: parts(...ids) } })]);
  expect((await sessions.openCalls(key)).map(({ callId, seq }) => [callId, seq])).toEqual([
    ['b', 2],
    ['a', 2],
  ]);
});

test('an event that cannot be stored is named in the error', () => {
  const event = (more: object) => createEvent({ id: 'e1', author: 'bot', ...more });
  for (const bad of [
    event({ invocationId: 'x'.repeat(300) }),
    event({ customMetadata: { a: () => 1 } }),
    event({ content: { role: 'model', parts: [{ type: 'function_call', id: 'x'.repeat(300), name: 'f', args: {} }] } }),
  ])
    expect(() => sealEvent(bad, 1)).toThrow(expect.objectContaining({ details: { id: 'e1' } }));
});

test('tools of the runtime’s own may run again: nobody is asked about them after a crash', async () => {
  const amy = llm('amy', new ScriptedModel(['hello']));
  const hands = new ScriptedModel([{ calls: [['transfer_to_agent', { agent_name: 'amy' }]] }]);
  const team = bench(llm('bot', hands, { subAgents: [amy] }));
  expect(responses(await team.say('hi')).transfer_to_agent).toEqual({ transferred_to: 'amy' });
  const leaves = llm('bot', new ScriptedModel([calls('exit_loop')]), { tools: [exitLoopTool()] });
  const loop = bench(new LoopAgent({ name: 'loop', subAgents: [leaves], maxIterations: 3 }));
  expect(responses(await loop.say('hi')).exit_loop).toEqual({ done: true });
  for (const { log } of [team, loop]) expect((await log()).some(({ actions }) => actions.started)).toBe(false);
});

test('an abort while a tool’s author looks for what became of a run is no fault of theirs', async () => {
  const asked = gate();
  const r = await resumed(
    (f) => {
      f.call(['c1']);
      f.act({ started: ['c1'] });
    },
    {
      tool: {
        onUnknownOutcome: () => {
          asked.open();
          return new Promise(() => {});
        },
      },
    },
  );
  const going = r.go();
  await asked.opened;
  await r.session.abort({ reason: 'enough' });
  expect(reasonOf(await going)).toBe('aborted');
  expect([r.warnings, await r.responses()]).toEqual([[], { c1: expect.stringContaining('interrupted (aborted)') }]);
});

test('what is no media type is told as it was given', () => {
  const refusal = (mimeType: unknown) => () => artifactBody({ mimeType, data: 'AAAA' } as never);
  expect(refusal('a\nb')).toThrow('is "a\\nb"; give one');
  expect(refusal('é'.repeat(60))).toThrow(`is "${'é'.repeat(40)}"; give one`);
  expect(refusal(undefined)).toThrow('is undefined; give one');
});
