import { describe, expect, test } from 'vitest';
import type { Content, MemoryEntry } from '../../src/contracts/index.ts';
import type { InvocationInfo, StoredEvent } from '../../src/runtime/index.ts';
import {
  createEvent,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  Runner,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, errorOf, key, llm, ownTool, said, text, tool, user } from './kit.ts';

describe('order of one run', () => {
  test('S0-01 the stream is lazy: event n is seen before n + 1 is made', async () => {
    const model = new ScriptedModel([{ calls: [['look']] }, 'done']);
    const ran: string[] = [];
    const look = tool('look', () => ran.push('look'), { annotations: { readOnly: true } });
    const { runner, sessions } = bench(llm('bot', model, { tools: [look] }));
    const stream = runner.run({ userId: key.userId, sessionId: key.id, input: 'hi', streaming: false });
    expect(await sessions.get(key)).toBeUndefined();

    const next = async () => {
      const { value } = await stream.next();
      // Whatever would go on by itself has gone on.
      for (let n = 0; n < 5; n++) await new Promise(setImmediate);
      return said([value])[0];
    };
    expect(await next()).toBe('user: hi');
    expect(model.requests).toHaveLength(0);
    expect(await next()).toBe('bot: call look({})');
    expect([model.requests.length, ran]).toEqual([1, []]);
    // What the consumer has seen is in the store, and nothing else.
    expect((await sessions.get(key))?.events).toHaveLength(2);
    expect(await next()).toBe('bot: look = {"content":1}');
    expect([model.requests.length, ran]).toEqual([1, ['look']]);
    expect(await next()).toBe('bot: done');
    expect((await stream.next()).value.actions.end).toEqual({ reason: 'completed' });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test('S0-01 leaving the stream ends the run at once', async () => {
    const model = new ScriptedModel(['never asked for']);
    const { runner, log } = bench(llm('bot', model));
    for await (const _ of runner.run({ userId: key.userId, sessionId: key.id, input: 'hi' })) break;
    expect(model.requests).toHaveLength(0);
    expect(endOf(await log())).toBe('aborted');
  });

  test('S0-02 an unknown session is made in the store that was given, a known one goes on', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { name: 'Ann' } });
    const model = new ScriptedModel(['one', 'two', 'other']);
    const agent = llm('bot', model, { instruction: 'name: {name?}' });
    const { runner, say } = bench(agent, { store: sessions });
    expect(runner.store).toBe(sessions);
    await say('hi');
    await say('again');
    await say('hi', { sessionId: 's2' });
    expect(model.requests.map(({ systemInstruction }) => systemInstruction)).toEqual([
      'name: Ann',
      'name: Ann',
      'name: ',
    ]);
    expect(brief(model.requests[1]?.contents)).toEqual(['user: hi', 'model: one', 'user: again']);
    expect(brief(model.requests[2]?.contents)).toEqual(['user: hi']);
    expect((await sessions.list({ app: key.app })).map(({ id }) => id)).toEqual(['s2', 's1']);
  });

  test('S0-03 on_user_message replaces the message before it is stored; the first to do so wins', async () => {
    const model = new ScriptedModel(['ok']);
    const given: Content = user('[redacted]');
    const seen: string[] = [];
    const { say, log } = bench(llm('bot', model), {
      plugins: [
        { name: 'looks', onUserMessage: (_, content) => void seen.push(...brief([content])) },
        { name: 'redacts', onUserMessage: () => given },
        { name: 'late', onUserMessage: () => user('too late') },
      ],
    });
    await say('my number is 42');
    expect(seen).toEqual(['user: my number is 42']);
    expect(said(await log())).toEqual(['user: [redacted]', 'bot: ok']);
    expect(brief(model.requests[0]?.contents)).toEqual(['user: [redacted]']);
    // A copy was stored: what the plugin holds stays its own.
    expect(Object.isFrozen(given.parts)).toBe(false);
  });

  test('S0-03 a failing on_user_message lets nothing pass', async () => {
    const model = new ScriptedModel(['never']);
    const { say, log } = bench(llm('bot', model), {
      plugins: [
        {
          name: 'guard',
          onUserMessage: () => {
            throw new Error('no');
          },
        },
      ],
    });
    await expect(say('hi')).rejects.toMatchObject({
      code: 'E_HOOK_FAILED',
      message: 'a guard.onUserMessage hook failed: no',
    });
    expect([await log(), model.requests]).toEqual([[], []]);
  });

  test('S0-04 the message is stored first, by the user, under the invocation', async () => {
    const { say } = bench(llm('bot', new ScriptedModel(['ok', 'ok'])));
    for (const turn of [await say('hi'), await say('again')]) {
      expect(turn[0]).toMatchObject({ author: 'user', actions: { turn: { start: 'bot' } } });
      expect(turn.length).toBe(3);
      expect(new Set(turn.map(({ invocationId }) => invocationId))).toEqual(new Set([turn[0]?.invocationId]));
      expect(new Set(turn.map(({ turnId }) => turnId)).size).toBe(1);
    }
    const [first, second] = [await say('a'), await say('b')];
    expect(first[0]?.invocationId).not.toBe(second[0]?.invocationId);
    expect(first[0]?.invocationId).not.toBe('');
  });

  test('S0-05 before_run content ends the run: one event, no agent, no model; after_run still fires', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel(['never']);
    const { say } = bench(llm('bot', model, { beforeAgent: () => void trace.push('agent') }), {
      plugins: [
        { name: 'closed', beforeRun: () => ({ role: 'user', parts: [{ type: 'text', text: 'closed today' }] }) },
        { name: 'log', beforeRun: () => void trace.push('not asked'), afterRun: () => void trace.push('after_run') },
      ],
    });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: closed today']);
    expect(events[1]?.content?.role).toBe('model');
    expect(endOf(events)).toBe('completed');
    expect([trace, model.requests]).toEqual([['after_run'], []]);
  });

  test('S0-06 a message starts at whoever spoke last, a function response at the call’s agent, else the root', async () => {
    const model = new ScriptedModel({
      byAgent: {
        root: [{ calls: [['transfer_to_agent', { agent_name: 'billing' }]] }],
        billing: ['billing here', { calls: [['pay']] }, 'paid'],
      },
      strict: true,
    });
    const pay = tool('pay', undefined);
    const { say } = bench(llm('root', model, { subAgents: [llm('billing', undefined, { tools: [pay] })] }));
    const starts = (events: Awaited<ReturnType<typeof say>>) => events.flatMap(({ actions }) => actions.turn ?? []);

    const first = await say('my bill');
    expect(starts(first)).toEqual([{ start: 'root' }]);
    const second = await say('pay it');
    expect([starts(second), endOf(second)]).toEqual([[{ start: 'billing', root: 'root' }], undefined]);
    const call = second.flatMap(({ content }) => content?.parts ?? []).find((part) => part.type === 'function_call');
    const third = await say({
      kind: 'tool_result',
      requestId: String(call?.id),
      result: { content: [{ type: 'text', text: 'ok' }] },
    });
    expect(starts(third)).toEqual([]);
    expect(said(third)).toEqual(['billing: pay = {"content":"ok"}', 'billing: paid']);
    expect(model.requests.map(({ agent }) => agent)).toEqual(['root', 'billing', 'billing', 'billing']);
  });

  test('S0-06 a before_run answer does not change who takes the next message', async () => {
    let closed = false;
    const model = new ScriptedModel({
      byAgent: {
        root: [{ calls: [['transfer_to_agent', { agent_name: 'billing' }]] }],
        billing: ['billing here', 'still here'],
      },
      strict: true,
    });
    const { say } = bench(llm('root', model, { subAgents: [llm('billing', undefined)] }), {
      plugins: [{ name: 'hours', beforeRun: () => (closed ? text('closed') : undefined) }],
    });
    await say('my bill');
    closed = true;
    expect(said(await say('hello?'))).toEqual(['user: hello?', 'billing: closed']);
    closed = false;
    expect(said(await say('hello?'))).toEqual(['user: hello?', 'billing: still here']);
  });

  test('S0-07 each event: on_event, which may replace it, then the store, then the consumer; partials are not stored', async () => {
    const trace: string[] = [];
    const sessions = new InMemorySessionService();
    const append = sessions.append.bind(sessions);
    sessions.append = (given, events, options) => {
      trace.push(...events.map((event) => `store ${said([event])[0] ?? event.actions.end?.reason}`));
      return append(given, events, options);
    };
    const { runner } = bench(llm('bot', new ScriptedModel([{ deltas: ['he', 'llo'] }])), {
      store: sessions,
      plugins: [
        {
          name: 'shout',
          onEvent: (_, event) => {
            trace.push(`on_event ${said([event])[0] ?? event.actions.end?.reason}`);
            return event.content ? { ...event, content: text('HELLO') } : undefined;
          },
        },
      ],
    });
    const shown = [];
    for await (const event of runner.run({ userId: key.userId, sessionId: key.id, input: 'hi' })) {
      trace.push(`show ${event.partial ? 'partial ' : ''}${said([event])[0] ?? event.actions.end?.reason}`);
      shown.push(event);
    }
    expect(trace).toEqual([
      'store user: hi',
      'show user: hi',
      'show partial bot: he',
      'show partial bot: llo',
      'on_event bot: hello',
      'store bot: HELLO',
      'show bot: HELLO',
      'on_event completed',
      'store completed',
      'show completed',
    ]);
    const stored = (await sessions.get(key))?.events ?? [];
    expect(stored.map(({ id }) => id)).toEqual(shown.filter(({ partial }) => !partial).map(({ id }) => id));
    expect(stored.some(({ partial }) => partial)).toBe(false);
    // Deltas belong to the message that is stored.
    expect(shown[1]?.id).toBe(stored[1]?.id);
  });

  test('S0-07 an edited event keeps its identity, its place and the marks that a resume needs', async () => {
    const model = new ScriptedModel([{ calls: [['pay']] }, 'done']);
    const pay = tool('pay', () => 'ok', { needsApproval: true });
    const { say, log } = bench(llm('bot', model, { tools: [pay] }), {
      plugins: [
        {
          name: 'signs',
          onEvent: (_, event) => ({
            ...event,
            id: 'forged',
            seq: 99,
            path: '/elsewhere',
            branch: 'hidden',
            author: 'nobody',
            partial: true,
            customMetadata: { signed: true },
            actions: { stateDelta: {}, artifactDelta: {}, escalate: false, skipSummarization: false },
          }),
        },
      ],
    });
    const asked = await say('pay');
    const ask = asked.at(-1)?.actions.asks?.[0];
    expect(ask?.callId).toMatch(/./);
    await say({ kind: 'elicitation_response', requestId: String(ask?.requestId), response: { action: 'accept' } });
    const stored = await log();
    expect(endOf(stored)).toBe('completed');
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    const edited = stored.filter(({ customMetadata }) => customMetadata?.signed);
    expect(edited.length).toBeGreaterThan(3);
    for (const event of edited) {
      expect(event).toMatchObject({ author: 'bot', path: '', partial: false });
      expect([event.id === 'forged', event.branch]).toEqual([false, undefined]);
    }
  });

  test('S0-08 after_run is told, in order; what it returns or throws changes nothing', async () => {
    const trace: string[] = [];
    const { say, warnings } = bench(llm('bot', new ScriptedModel(['ok'])), {
      plugins: [
        { name: 'a', afterRun: () => 'ignored' as never },
        {
          name: 'b',
          afterRun: () => {
            throw new Error('broken');
          },
        },
        { name: 'c', afterRun: (info) => void trace.push(info.turnId) },
      ],
    });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: ok']);
    expect([trace, warnings]).toEqual([[events[0]?.turnId], ['b.afterRun failed']]);
  });

  test('S0-08 after_run also fires when the run fails or waits', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel([{ error: new Error('down') }, { calls: [['pay']] }]);
    const { say } = bench(llm('bot', model, { tools: [tool('pay', undefined)] }), {
      plugins: [{ name: 'log', afterRun: () => void trace.push('after_run') }],
    });
    expect(endOf(await say('hi'))).toBe('failed');
    expect(endOf(await say('hi'))).toBeUndefined();
    expect(trace).toEqual(['after_run', 'after_run']);
  });

  test('on_event is shown errors and ends too; failing there does not keep a turn from ending', async () => {
    const codes: unknown[] = [];
    const { say, warnings } = bench(llm('bot', new ScriptedModel([{ error: new Error('down') }])), {
      plugins: [
        {
          name: 'log',
          onEvent: (_, event) => {
            codes.push(event.errorCode ?? event.actions.end?.reason);
            throw new Error('disk full');
          },
        },
      ],
    });
    const events = await say('hi');
    expect(codes).toEqual(['E_MODEL', 'failed']);
    expect([errorOf(events)?.code, endOf(events)]).toEqual(['E_MODEL', 'failed']);
    expect(warnings).toEqual(['an on_event hook failed', 'an on_event hook failed']);
  });

  test('S0-69 an on_event hook that fails fails the turn by its name: what it was to edit is not stored', async () => {
    const onEvent = (_: unknown, { content }: StoredEvent) => {
      if (content?.role === 'model') throw new Error('cannot blank this');
      return undefined;
    };
    const events = await bench(llm('bot', new ScriptedModel(['secret'])), { plugins: [{ name: 'dlp', onEvent }] }).say(
      'hi',
    );
    expect(errorOf(events)).toMatchObject({
      code: 'E_HOOK_FAILED',
      message: 'a dlp.onEvent hook failed: cannot blank this',
    });
    expect(said(events.filter(({ partial }) => !partial))).toEqual(['user: hi']);
  });
});

describe('construction', () => {
  test('S0-10 two plugins of one name are refused', () => {
    const agent = new LlmAgent({ name: 'bot' });
    expect(() => new Runner({ app: 'shop', agent, plugins: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] })).toThrow(
      expect.objectContaining({ code: 'E_DUPLICATE_PLUGIN', message: 'two plugins are named a' }),
    );
  });

  test('S0-10 two agents of one name are refused', () => {
    const agent = llm('bot', undefined, { subAgents: [llm('bot', undefined)] });
    expect(() => new Runner({ app: 'shop', agent })).toThrow(expect.objectContaining({ code: 'E_DUPLICATE_AGENT' }));
  });

  test('S0-11 hooks and tools reach app, session, services, the tree and its parents', async () => {
    const seen: { info?: InvocationInfo; memory?: MemoryEntry[]; files?: string[] } = {};
    const memory = new InMemoryMemoryService();
    await memory.addSession({ ...key, id: 'earlier' }, [createEvent({ author: 'ann', content: user('I like tea') })]);
    const artifacts = new InMemoryArtifactService();
    await artifacts.save(key, 'menu.txt', { mimeType: 'text/plain', data: 'eA==' });
    const look = ownTool('look', async (_, context) => {
      seen.memory = await context.searchMemory('tea');
      seen.files = await context.artifacts.list();
      expect(context).toMatchObject({ sessionId: 's1', agentPath: ['bot'], deps: { db: 1 } });
      return 'ok';
    });
    const child = llm('child', undefined);
    const agent = llm('bot', new ScriptedModel([{ calls: [['look']] }, 'ok']), { tools: [look], subAgents: [child] });
    const { say, sessions } = bench(agent, {
      plugins: [{ name: 'log', beforeRun: (info) => void Object.assign(seen, { info }) }],
      services: { memory, artifacts },
    });
    await say('hi', { deps: { db: 1 } });
    expect(seen).toMatchObject({ memory: [{ content: 'I like tea', author: 'ann' }], files: ['menu.txt'] });
    expect(seen.info).toMatchObject({ key, sessionId: 's1', deps: { db: 1 } });
    expect(seen.info?.store).toBe(sessions);
    expect(seen.info?.tree.root).toBe(agent);
    expect(seen.info?.tree.parent(child)).toBe(agent);
  });

  test('S0-11 without services: no memory, and artifacts say what is missing', async () => {
    const found: unknown[] = [];
    const look = ownTool('look', async (_, context) => {
      found.push(await context.searchMemory('tea'));
      await context.artifacts.list();
    });
    const { say } = bench(llm('bot', new ScriptedModel([{ calls: [['look']] }, 'ok']), { tools: [look] }));
    expect(said(await say('hi'))[2]).toContain('there is no artifact service');
    expect(found).toEqual([[]]);
  });
});
