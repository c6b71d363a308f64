import { describe, expect, test } from 'vitest';
import type { CustomAgentOptions, CustomContext, Outcome } from '../../src/runtime/index.ts';
import { CustomAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, said, tool } from './kit.ts';

/** An agent that does this in its n-th run; its child `asks` waits for the host in the first. */
function replaying(...runs: ((context: CustomContext) => Promise<unknown>)[]) {
  const model = new ScriptedModel([{ calls: [['pay']] }, 'paid']);
  const asks = llm('asks', model, { tools: [tool('pay', undefined)] });
  let run = 0;
  const agent = new CustomAgent({
    name: 'own',
    subAgents: [asks],
    run: async (context) => {
      await runs[Math.min(run++, runs.length - 1)]?.(context);
      await context.run(asks);
    },
  });
  const { say, log, state, sessions } = bench(agent);
  const twice = async () => {
    const part = (await say('hi')).at(-1)?.content?.parts[0] as { id: string };
    return say({ kind: 'tool_result', requestId: part.id, result: { content: [] } });
  };
  return { twice, log, state, sessions };
}

describe('a custom agent that runs again', () => {
  test.each<
    [string, (context: CustomContext) => Promise<unknown>, (context: CustomContext) => Promise<unknown>, string]
  >([
    ['another step', (c) => c.step('a', () => 1), (c) => c.step('b', () => 1), 'did step b where the log has a;'],
    ['an event for a step', (c) => c.step('a', () => 1), (c) => c.emit('x'), 'did emit where the log has step a;'],
    ['a step for an event', (c) => c.emit('x'), (c) => c.step('a', () => 1), 'did step a where the log has emit;'],
  ])('and does %s is told so', async (_, first, second, message) => {
    const events = await replaying(first, second).twice();
    expect(errorOf(events)).toMatchObject({ code: 'E_REPLAY_DIVERGED', message: expect.stringContaining(message) });
  });

  test('finds what its steps gave, nothing and null included, and does none of them again', async () => {
    const given: unknown[] = [];
    let works = 0;
    const steps = async (context: CustomContext) => {
      for (const value of [1, null, undefined, { a: [1] }])
        given.push(
          await context.step('s', async () => {
            works++;
            return value;
          }),
        );
    };
    const events = await replaying(steps).twice();
    expect([endOf(events), works]).toEqual(['completed', 4]);
    const once = [1, null, null, { a: [1] }];
    expect(given).toEqual([...once, ...once]);
  });

  test('writes state once, with the event that follows', async () => {
    const writes = async (context: CustomContext) => {
      context.state.set('a', 1);
      await context.emit({ actions: { stateDelta: { b: 2 } } });
      context.state.set('c', 3);
      await context.step('s', () => 1);
      context.state.set('d', 4);
    };
    const { twice, log, state } = replaying(writes);
    expect(endOf(await twice())).toBe('completed');
    const deltas = (await log())
      .map(({ actions }) => actions.stateDelta)
      .filter((delta) => Object.keys(delta).length > 0);
    expect(deltas).toEqual([{ a: 1, b: 2 }, { c: 3 }, { d: 4 }]);
    expect(await state()).toEqual({ a: 1, b: 2, c: 3, d: 4 });
  });

  test('is given what it has escalated before', async () => {
    let loops = 0;
    const model = new ScriptedModel([{ calls: [['pay']] }, 'paid']);
    const asks = llm('asks', model, { tools: [tool('pay', undefined)] });
    const own = new CustomAgent({
      name: 'own',
      subAgents: [asks],
      run: async (context) => {
        loops++;
        await context.emit({ actions: { escalate: true } });
        await context.run(asks);
      },
    });
    const { say } = bench(new LoopAgent({ name: 'loop', subAgents: [own], maxIterations: 5 }));
    const part = (await say('hi')).at(-1)?.content?.parts[0] as { id: string };
    expect(endOf(await say({ kind: 'tool_result', requestId: part.id, result: { content: [] } }))).toBe('completed');
    expect(loops).toBe(2);
  });

  test('and has another child there is told so', async () => {
    const [amy, bob] = ['amy', 'bob'].map((name) => llm(name, new ScriptedModel(['hello']))) as [never, never];
    const asks = llm('asks', new ScriptedModel([{ calls: [['pay']] }]), { tools: [tool('pay', undefined)] });
    let run = 0;
    const agent = new CustomAgent({
      name: 'own',
      subAgents: [amy, bob, asks],
      run: async (context) => {
        await context.run(run++ === 0 ? amy : bob);
        await context.run(asks);
      },
    });
    const { say } = bench(agent);
    const part = (await say('hi')).at(-1)?.content?.parts[0] as { id: string };
    const events = await say({ kind: 'tool_result', requestId: part.id, result: { content: [] } });
    expect(errorOf(events)).toMatchObject({
      code: 'E_REPLAY_DIVERGED',
      message: expect.stringContaining('the log has agent amy at /0, the program has bob'),
    });
  });
});

describe('what a custom agent emits', () => {
  const emitting = (actions: object) => {
    const run: CustomAgentOptions['run'] = (context) => context.emit({ actions } as never);
    return bench(new CustomAgent({ name: 'own', run })).say('hi');
  };

  test.each([{ transferToAgent: 'x' }, { end: { reason: 'x' } }, { skipSummarization: true }, { decisions: {} }])(
    'is nothing that is the runtime’s: %j',
    async (actions) => {
      expect(errorOf(await emitting(actions))).toMatchObject({
        code: 'E_BAD_INPUT',
        message: expect.stringContaining(String(Object.keys(actions)[0])),
      });
    },
  );

  test('may leave things out by saying no to them', async () => {
    expect(
      endOf(await emitting({ skipSummarization: false, transferToAgent: undefined, artifactDelta: { a: 1 } })),
    ).toBe('completed');
  });
});

describe('children that a custom agent runs side by side', () => {
  const ending = (name: string, outcome: Outcome) =>
    ({ name, description: '', subAgents: [], run: async () => outcome }) as never;
  const failure = {
    reason: 'failed',
    status: 'INTERNAL',
    code: 'E_OWN',
    message: 'broken',
    fatal: true,
    retryable: false,
  };
  const outcomes: Record<string, Outcome> = {
    escalates: { kind: 'done', escalate: true },
    waits: { kind: 'suspended' },
    fails: { kind: 'failed', failure } as Outcome,
  };

  test.each<[string[], string | undefined]>([
    [['escalates', 'waits', 'fails'], 'failed'],
    [['fails', 'waits', 'escalates'], 'failed'],
    [['waits', 'escalates'], undefined],
    [['escalates', 'waits'], undefined],
    [['escalates'], 'completed'],
  ])('%j: what is most urgent counts', async (names, reason) => {
    const children = names.map((name) => ending(name, outcomes[name] as Outcome));
    const own = new CustomAgent({
      name: 'own',
      subAgents: children,
      run: async (context) => void (await Promise.allSettled(children.map((child) => context.run(child)))),
    });
    const events = await bench(own).say('hi');
    expect([endOf(events), errorOf(events)?.code]).toEqual([reason, reason === 'failed' ? 'E_OWN' : undefined]);
    const parallel = await bench(new ParallelAgent({ name: 'all', subAgents: children })).say('hi');
    expect(endOf(parallel)).toBe(reason);
  });

  test('end a sequence where they do not simply end', async () => {
    for (const [name, outcome] of Object.entries(outcomes)) {
      const after = llm('after', new ScriptedModel(['hello']));
      const agent = new SequentialAgent({ name: 'seq', subAgents: [ending(name, outcome), after] });
      expect(said(await bench(agent).say('hi'))).toEqual(['user: hi']);
    }
  });
});

test('a loop tells each of its iterations once, also after a pause', async () => {
  const model = new ScriptedModel([{ calls: [['pay']] }, 'one', 'two']);
  const child = llm('child', model, { tools: [tool('pay', undefined)] });
  const { say, log } = bench(new LoopAgent({ name: 'loop', subAgents: [child], maxIterations: 2 }));
  const part = (await say('hi')).at(-1)?.content?.parts[0] as { id: string };
  await say({ kind: 'tool_result', requestId: part.id, result: { content: [] } });
  const began = (await log()).flatMap(({ actions }) => actions.began ?? []);
  expect(began).toEqual([
    { path: '', agent: 'loop', iteration: 0 },
    { path: '/0', agent: 'child' },
    { path: '', agent: 'loop', iteration: 1 },
    { path: '/1', agent: 'child' },
  ]);
  const completed = (await log()).flatMap(({ actions }) => actions.completed ?? []);
  expect(completed.map(({ path }) => path)).toEqual(['/0', '/1']);
});
