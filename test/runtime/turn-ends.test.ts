import { describe, expect, test } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { Plugin, StoredEvent } from '../../src/runtime/index.ts';
import { agentTool, ParallelAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, said, tool } from './kit.ts';
import { reasonOf, resumed } from './resumed.ts';

const calls = (...names: string[]) => ({ calls: names.map((name) => [name] as const) });
const dataOf = (events: readonly StoredEvent[]) => events.at(-1)?.actions.end;

/** A turn that is told to end while its tool runs. */
async function aborted(reason: unknown, plugins: Plugin[] = []) {
  const stop = new AbortController();
  const wait = tool('wait', () => {
    stop.abort(reason);
    return new Promise(() => {});
  });
  const long = tool('long', () => ({ status: 'sent' }), { annotations: { longRunning: true } });
  const agent = llm('bot', new ScriptedModel([calls('long', 'wait')]), { tools: [wait, long] });
  const b = bench(agent, { plugins });
  return { ...b, events: await b.say('hi', { signal: stop.signal }) };
}

describe('a turn that is told to end', () => {
  test.each<[string, unknown, string, string | undefined]>([
    ['by its time', new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_TIME', 'too long'), 'max_time', 'E_MAX_TIME'],
    [
      'by its budget',
      new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_BUDGET', 'too dear'),
      'max_budget',
      'E_MAX_BUDGET',
    ],
    [
      'by its calls',
      new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', 'too many'),
      'max_turns',
      'E_MAX_LLM_CALLS',
    ],
    ['by a refusal', new CoxswainError('FAILED_PRECONDITION', 'E_REFUSED', 'no'), 'refusal', 'E_REFUSED'],
    ['by another error', new CoxswainError('INTERNAL', 'E_OTHER', 'broken'), 'aborted', undefined],
    ['by words', 'enough', 'aborted', undefined],
    ['by nothing', undefined, 'aborted', undefined],
  ])('%s ends so', async (_, reason, expected, code) => {
    const { events } = await aborted(reason);
    expect([endOf(events), errorOf(events)?.code]).toEqual([expected, code]);
    const told = code === undefined ? undefined : { reason: (reason as Error).message };
    expect(dataOf(events)).toStrictEqual({ reason: expected, ...(told ? { data: told } : {}) });
    expect(events.at(-1)).toMatchObject({ author: 'bot', path: '' });
  });

  test('closes all that is open, what was asked last first', async () => {
    const { events } = await aborted('enough');
    const closed = events
      .flatMap(({ content }) => content?.parts ?? [])
      .filter(({ type }) => type === 'function_response');
    expect(closed).toMatchObject([
      { name: 'wait', errorType: 'interrupted', response: { error: expect.stringContaining('(aborted)') } },
      { name: 'long', errorType: 'interrupted' },
    ]);
    const limited = await aborted(new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_TIME', 'too long'));
    expect(JSON.stringify(limited.events)).toContain('(the turn ended: max_time)');
  });

  test('ends whatever hooks do', async () => {
    const hook: Plugin = {
      name: 'hook',
      onEvent: (_, event) => {
        if (event.actions.end) throw new Error('no');
        return undefined;
      },
    };
    const { events, warnings } = await aborted('enough', [hook]);
    expect([endOf(events), warnings]).toEqual(['aborted', ['an on_event hook failed']]);
  });
});

describe('a turn that ends by itself', () => {
  test('leaves long-running calls open, and closes the others where it fails', async () => {
    const long = tool('long', () => ({ status: 'sent' }), { annotations: { longRunning: true } });
    const pay = tool('pay', () => 1, { needsApproval: true });
    const done = bench(llm('bot', new ScriptedModel([calls('long'), 'done']), { tools: [long] }));
    expect(endOf(await done.say('hi'))).toBe('completed');
    expect(dataOf(await done.log())).toStrictEqual({ reason: 'completed' });
    const open = async ({ sessions }: typeof done) =>
      (await sessions.openCalls({ app: 'shop' })).map(({ name }) => name);
    expect(await open(done)).toEqual(['long']);
    const [asks, fails] = [
      llm('asks', new ScriptedModel([calls('pay', 'long')]), { tools: [pay, long] }),
      llm('fails', new ScriptedModel([{ error: new Error('gone') }])),
    ];
    const failing = bench(new ParallelAgent({ name: 'all', subAgents: [asks, fails] }));
    const events = await failing.say('hi');
    expect([endOf(events), dataOf(events)?.data]).toEqual(['failed', { reason: 'model scripted failed: gone' }]);
    expect((await open(failing)).filter((name) => name === 'pay')).toEqual([]);
    expect(JSON.stringify(events)).not.toContain('the turn ended: failed)": long');
  });

  test('says that a loop around it was to end', async () => {
    const leave = tool('leave', (_, context) => (context as unknown as { escalate(): void }).escalate());
    const events = await bench(llm('bot', new ScriptedModel([calls('leave')]), { tools: [leave] })).say('hi');
    expect(dataOf(events)).toStrictEqual({ reason: 'completed', data: { escalateReason: 'escalate' } });
  });

  test('is told to plugins once it is over, or waits; under a host only once it is over', async () => {
    const told: string[] = [];
    const plugin: Plugin = { name: 'hears', afterRun: (info) => void told.push(info.turnId === '' ? 'none' : 'turn') };
    const waiting = () =>
      bench(llm('bot', new ScriptedModel([calls('pay'), 'done']), { tools: [tool('pay', undefined)] }), {
        plugins: [plugin],
      });
    await waiting().say('hi');
    expect(told).toEqual(['turn']);
    await waiting().say('hi', { hostToolExecution: true });
    expect(told).toHaveLength(1);
  });
});

describe('hooks that have run', () => {
  test('are told of where the turn waits behind them, and do not run again', async () => {
    let runs = 0;
    const asks = (f: Parameters<Parameters<typeof resumed>[0]>[0]) => {
      f.call(['c1']);
      f.act({ asks: [{ requestId: 'c1#0', callId: 'c1', kind: 'tool_confirmation', message: '?' }] });
    };
    const plugins: Plugin[] = [{ name: 'counts', beforeAgent: () => void runs++ as undefined }];
    const r = await resumed(asks, { source: { plugins } });
    for (let turn = 0; turn < 2; turn++) expect(reasonOf(await r.go())).toBe('input_required');
    expect(runs).toBe(1);
    const entered = (await r.log()).filter(({ actions }) => actions.entered !== undefined);
    expect(entered).toHaveLength(1);
    expect(entered[0]).toMatchObject({ author: 'bot', actions: { entered: [''] } });
  });
});

describe('pieces of words', () => {
  test('are shown in the place of whoever says them', async () => {
    const [amy, bob] = ['amy', 'bob'].map((name) => llm(name, new ScriptedModel([{ deltas: ['a'] }]))) as [
      never,
      never,
    ];
    const frames = await bench(new ParallelAgent({ name: 'all', subAgents: [amy, bob] })).frames('hi');
    const pieces = frames.filter(({ partial }) => partial);
    expect(pieces.map(({ author, branch, path }) => [author, branch, path])).toEqual([
      ['amy', 'all.amy', '/0'],
      ['bob', 'all.bob', '/1'],
    ]);
    for (const piece of pieces) for (const name of ['iso', 'thread']) expect(piece).not.toHaveProperty(name);
    const expert = llm('expert', new ScriptedModel([{ deltas: ['x'] }]));
    const model = new ScriptedModel([{ calls: [['expert', { request: 'go' }]] }, 'done']);
    const within = (await bench(llm('bot', model, { tools: [agentTool(expert)] })).frames('hi')).filter(
      (event) => event.partial && event.author === 'expert',
    );
    expect(within).toHaveLength(1);
    expect(within[0]?.iso).toBe(within[0]?.path);
    expect(within[0]).not.toHaveProperty('thread');
  });

  test('of a branch within an agent run as a tool are shown in a thread of their own', async () => {
    const [amy, bob] = ['amy', 'bob'].map((name) => llm(name, new ScriptedModel([{ deltas: ['a'] }]))) as [
      never,
      never,
    ];
    const both = new ParallelAgent({ name: 'both', subAgents: [amy, bob] });
    const model = new ScriptedModel([{ calls: [['both', { request: 'go' }]] }, 'done']);
    const frames = await bench(llm('bot', model, { tools: [agentTool(both)] })).frames('hi');
    const pieces = frames.filter(({ partial, author }) => partial && author !== 'bot');
    const threads = pieces.map(({ thread, iso }) => thread?.replace(String(iso), 'tool'));
    expect(threads).toEqual(['tool.both.amy', 'tool.both.bob']);
    expect(said(frames.filter(({ partial }) => !partial)).at(-1)).toBe('bot: done');
  });
});
