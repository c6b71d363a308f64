import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { CustomContext } from '../../src/runtime/index.ts';
import { CustomAgent, createEvent, InMemorySessionService, LoopAgent, ParallelAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, said, text, tool } from './kit.ts';

const custom = (run: (context: CustomContext) => void | Promise<void>, rest: object = {}) =>
  new CustomAgent({ name: 'own', run, ...rest });

describe('S0-46 custom agents', () => {
  test('S0-49 an event with escalate ends the nearest loop once the function has ended, also after a pause', async () => {
    let n = 0;
    const model = new ScriptedModel([{ calls: [['pay']] }, 'paid']);
    const payer = llm('payer', model, { tools: [tool('pay', () => 'ok', { needsApproval: true })] });
    const stop = new CustomAgent({
      name: 'stop',
      subAgents: [payer],
      async run(context) {
        const round = await context.step('round', () => ++n);
        await context.emit({ content: text(`round ${round}`), actions: { escalate: round === 2 } });
        if (round === 2) await context.run(payer);
        await context.emit('end of round');
      },
    });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 5, subAgents: [stop] });
    const session = await fromAgent(loop).open({}, { app: 'shop' });
    const first = await run(session, 'go');
    expect(first.reason).toBe('input_required');
    const [open] = await session.pending();
    const rest = await run(session, { kind: 'tool_approval', requestId: open?.requestId ?? '' });
    expect([rest.reason, n]).toEqual(['completed', 2]);
  });

  test.each([
    { transferToAgent: 'payer' },
    { decisions: { c: { outcome: 'approved', by: 'me' } } },
    { end: { reason: 'completed' } },
    { skipSummarization: true },
  ])('what only the runtime may say is refused, not dropped: %j', async (actions) => {
    const agent = custom((context) => context.emit({ content: text('x'), actions: actions as never }));
    const events = await bench(agent).say('hi');
    expect(errorOf(events)).toEqual({
      code: 'E_BAD_INPUT',
      message: expect.stringContaining(`actions.${Object.keys(actions)[0]}`),
    });
  });

  test('of an event that is handed over whole, content and actions are taken', async () => {
    const whole = createEvent({
      author: 'somebody',
      path: '/9',
      content: text('whole'),
      customMetadata: { step: 'x' },
    });
    const { say } = bench(custom((context) => context.emit(whole)));
    const event = (await say('hi')).find(({ content }) => content?.role === 'model');
    expect(event).toMatchObject({ author: 'own', path: '', content: text('whole') });
    expect(event?.customMetadata).toBeUndefined();
    expect(event?.id).not.toBe(whole.id);
  });

  test('run a function between callbacks; what they emit gets author, place and time', async () => {
    const trace: string[] = [];
    const agent = custom(
      async (context) => {
        trace.push('run');
        await context.emit('one');
        await context.emit([{ type: 'text', text: 'two' }]);
        await context.emit({ content: text('three'), actions: { stateDelta: { k: 1 } } });
      },
      { beforeAgent: () => void trace.push('before'), afterAgent: () => void trace.push('after') },
    );
    const { say, state } = bench(agent);
    const events = await say('hi');
    expect([trace, await state()]).toEqual([['before', 'run', 'after'], { k: 1 }]);
    expect(said(events)).toEqual(['user: hi', 'own: one', 'own: two', 'own: three']);
    for (const event of events.slice(1, 4)) {
      expect(event).toMatchObject({ author: 'own', path: '', content: { role: 'model' }, turnId: events[0]?.turnId });
      expect(event.timestamp).toBeGreaterThanOrEqual(events[0]?.timestamp ?? 0);
    }
  });

  test('before_agent content skips the function, after_agent content is one more event', async () => {
    const skipped = custom(() => Promise.reject(new Error('never')), { beforeAgent: () => text('skipped') });
    expect(said(await bench(skipped).say('hi'))).toEqual(['user: hi', 'own: skipped']);
    const polished = custom((context) => context.emit('raw'), { afterAgent: () => text('polished') });
    expect(said(await bench(polished).say('hi'))).toEqual(['user: hi', 'own: raw', 'own: polished']);
  });

  test('what it gives away is copied, what is no JSON is refused', async () => {
    const given = text('one');
    const { say, log } = bench(
      custom(async (context) => {
        await context.emit({ content: given });
        given.parts.push({ type: 'text', text: 'more' });
      }),
    );
    expect(endOf(await say('hi'))).toBe('completed');
    expect(said(await log())).toEqual(['user: hi', 'own: one']);
    const bad = bench(
      custom((context) => context.emit({ content: text('x'), actions: { stateDelta: { at: new Date() } } })),
    );
    expect(errorOf(await bad.say('hi'))?.code).toBe('E_NOT_JSON');
  });

  test('state written before a child runs is there for the child; the rest is kept at the end', async () => {
    const model = new ScriptedModel(['ok']);
    const child = llm('child', model, { instruction: '{a} {temp:b}', outputKey: 'said' });
    const { say, state } = bench(
      custom(
        async (context) => {
          context.state.set('a', 1);
          context.state.set('temp:b', 2);
          await context.run(child);
          context.state.set('c', context.state.get('said'));
        },
        { subAgents: [child] },
      ),
    );
    expect(endOf(await say('hi'))).toBe('completed');
    expect(model.requests[0]?.systemInstruction).toBe('1 2');
    expect(await state()).toEqual({ a: 1, said: 'ok', c: 'ok' });
  });

  test('what it throws fails the turn', async () => {
    const events = await bench(custom(() => Promise.reject(new Error('broken')))).say('hi');
    expect([errorOf(events), endOf(events)]).toEqual([{ code: 'E_INTERNAL', message: 'broken' }, 'failed']);
  });

  test('escalate ends the nearest loop', async () => {
    let n = 0;
    const loop = new LoopAgent({
      name: 'loop',
      subAgents: [custom((context) => (++n === 2 ? context.escalate() : undefined))],
    });
    expect(endOf(await bench(loop).say('hi'))).toBe('completed');
    expect(n).toBe(2);
  });
});

describe('re-execution', () => {
  test('after a pause it runs again from the top, but nothing that went through the context happens twice', async () => {
    const done: string[] = [];
    const model = new ScriptedModel({
      byAgent: { asks: [{ calls: [['pay']] }, 'paid'], after: ['bye'] },
      strict: true,
    });
    const asks = llm('asks', model, { tools: [tool('pay', undefined)] });
    const after = llm('after', model);
    let entered = 0;
    const agent = custom(
      async (context) => {
        entered++;
        const price = await context.step('price', () => {
          done.push('step');
          return 10 + done.length;
        });
        context.state.set('price', price);
        await context.emit(`price ${price}`);
        try {
          await context.run(asks);
        } catch {
          // User code cannot go on past a child that waits.
        }
        await context.run(after);
        await context.emit(`sold for ${price}`);
      },
      { subAgents: [asks, after] },
    );
    const sessions = new InMemorySessionService();
    const { say, log, state } = bench(agent, { store: sessions });
    const first = await say('hi');
    expect([said(first).at(-1), endOf(first), entered]).toEqual(['asks: call pay({})', undefined, 1]);
    const part = first.at(-1)?.content?.parts[0];
    const second = await say({ kind: 'tool_result', requestId: (part as { id: string }).id, result: { content: [] } });
    expect([endOf(second), entered, done]).toEqual(['completed', 2, ['step']]);
    expect(said(await log())).toEqual([
      'user: hi',
      'own: price 11',
      'asks: call pay({})',
      'asks: pay = {"content":""}',
      'asks: paid',
      'after: bye',
      'own: sold for 11',
    ]);
    expect(await state()).toEqual({ price: 11 });
  });

  test('MUT-R18 after a pause what is emitted anew is no step back in what was recorded', async () => {
    const model = new ScriptedModel([{ calls: [['pay']] }, 'paid']);
    const asks = llm('asks', model, { tools: [tool('pay', undefined)] });
    const taken: string[] = [];
    const take = (name: string) => () => {
      taken.push(name);
      return name;
    };
    const agent = custom(
      async (context) => {
        await context.step('price', take('price'));
        await context.run(asks);
        await context.emit('sold');
        await context.step('receipt', take('receipt'));
        await context.emit('sent');
      },
      { subAgents: [asks] },
    );
    const { say } = bench(agent);
    const part = (await say('hi')).at(-1)?.content?.parts[0];
    const events = await say({ kind: 'tool_result', requestId: (part as { id: string }).id, result: { content: [] } });
    expect([endOf(events), taken]).toEqual(['completed', ['price', 'receipt']]);
    expect(said(events).filter((line) => line.startsWith('own: '))).toEqual(['own: sold', 'own: sent']);
  });

  test('children run at once keep their places, also when state is written between', async () => {
    const model = new ScriptedModel({
      byAgent: { a: [{ calls: [['pay']] }, 'a paid'], b: [{ calls: [['pay']] }, 'b paid'] },
      strict: true,
    });
    const pay = tool('pay', undefined);
    const [a, b] = ['a', 'b'].map((name) => llm(name, model, { tools: [pay], instruction: '{k}' })) as [
      ReturnType<typeof llm>,
      ReturnType<typeof llm>,
    ];
    const agent = custom(
      async (context) => {
        context.state.set('k', 'v');
        await Promise.all([context.run(a), context.run(b)]);
      },
      { subAgents: [a, b] },
    );
    const { say } = bench(agent);
    let events = await say('hi');
    const ids = events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => (part.type === 'function_call' ? [part.id] : [])) ?? [],
    );
    expect(ids).toHaveLength(2);
    for (const requestId of ids) events = await say({ kind: 'tool_result', requestId, result: { content: [] } });
    expect(endOf(events)).toBe('completed');
    expect(model.requests.every(({ systemInstruction }) => systemInstruction === 'v')).toBe(true);
  });

  test('an aborted one is not done: what follows an abort runs it again', async () => {
    const stop = new AbortController();
    const entered: number[] = [];
    const own = custom(async (context) => {
      entered.push(1);
      await context.emit('begun');
      if (entered.length === 1) stop.abort('enough');
      await context.emit('done');
    });
    const agent = new ParallelAgent({ name: 'par', subAgents: [own] });
    const { say } = bench(agent);
    expect(endOf(await say('hi', { signal: stop.signal }))).toBe('aborted');
    const events = await say({ kind: 'continue' });
    expect([said(events), endOf(events), entered.length]).toEqual([['own: done'], 'completed', 2]);
  });

  test('a program that does something else than the log has is told so', async () => {
    let changed = false;
    const asks = llm('asks', new ScriptedModel([{ calls: [['pay']] }]), { tools: [tool('pay', undefined)] });
    const agent = custom(
      async (context) => {
        if (changed) await context.step('new', () => 1);
        else await context.emit('old');
        await context.run(asks);
      },
      { subAgents: [asks] },
    );
    const { say } = bench(agent);
    const part = (await say('hi')).at(-1)?.content?.parts[0];
    changed = true;
    const events = await say({ kind: 'tool_result', requestId: (part as { id: string }).id, result: { content: [] } });
    expect(errorOf(events)).toEqual({
      code: 'E_REPLAY_DIVERGED',
      message: 'custom agent own did step new where the log has emit; abort the turn',
    });
  });
});
