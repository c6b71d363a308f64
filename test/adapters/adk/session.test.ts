import { describe, expect, onTestFinished, test } from 'vitest';
import type { AdkSession, FromAgentOptions } from '../../../src/adapters/adk/index.ts';
import { snapshotOf } from '../../../src/adapters/adk/index.ts';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentEvent, SessionInput, SessionUpdate, ToolDescriptor } from '../../../src/contracts/index.ts';
import type { Agent, SessionService } from '../../../src/index.ts';
import { fromAgent, InMemorySessionService } from '../../../src/index.ts';
import { openRequest } from '../../../src/session/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import {
  all,
  bot,
  brief,
  door,
  endOf,
  firstOf,
  follow,
  notingTool,
  ofType,
  only,
  ownTool,
  readOnly,
  refusal,
  results,
  say,
  slowTool,
  tool,
} from '../../host/kit.ts';
import { watchRejections } from '../../host/rejections.ts';

const context = { app: 'shop', userId: 'ann' };
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

function sourceOf(agent: Agent, options: FromAgentOptions = {}) {
  const sessions = options.store ?? new InMemorySessionService();
  return { source: fromAgent(agent, { ...options, store: sessions }), sessions };
}

async function open(agent: Agent, options: FromAgentOptions = {}): Promise<AdkSession> {
  return (await sourceOf(agent, options).source.open({}, context)) as AdkSession;
}

/** What has been said to a model, one line a content. */
function told(model: ScriptedModel, request: number): string[] {
  return (model.requests[request]?.contents ?? []).map(({ role, parts }) => {
    const words = parts.map((part) =>
      part.type === 'text'
        ? part.text
        : part.type === 'function_call'
          ? `call ${part.name}`
          : part.type === 'function_response'
            ? `${part.name} = ${JSON.stringify(part.response)}`
            : part.type,
    );
    return `${role}: ${words.join('|')}`;
  });
}

const untyped = (value: unknown) => value as SessionInput;

describe('streams', () => {
  test('S3-11 a stream starts or continues a turn, and is lazy', async () => {
    const model = new ScriptedModel([{ calls: [['away']] }, 'done']);
    const session = await open(bot(model, { tools: [tool('away')] }));
    session.stream('never begun');
    expect(await all(session.events())).toEqual([]);
    const first = await say(session, 'go');
    const { requestId } = await only(session);
    const second = await say(session, { kind: 'tool_result', requestId, result: text('42') });
    expect(model.requests).toHaveLength(2);
    expect(endOf(first).reason).toBe('input_required');
    expect(brief(second)).toEqual(['away = 42', 'agent~: done', 'agent: done', 'end completed']);
    expect(endOf(second).turnId).toBe(endOf(first).turnId);
    expect(endOf(second).streamId).not.toBe(endOf(first).streamId);
  });

  test('S3-12 an update takes effect at the next step, also of the running stream', async () => {
    const look = slowTool('look', readOnly);
    const model = new ScriptedModel([{ calls: [['look']] }, 'done', 'next']);
    const session = await open(bot(model, { tools: [look.tool] }));
    const run = follow(session, 'go');
    await look.started;
    expect(await session.update({ model: 'bigger', title: 'Trip' })).toEqual({ effective: 'next_step' });
    look.finish(1);
    expect(ofType(await run.ended, 'session_update')).toMatchObject([{ model: 'bigger', title: 'Trip' }]);
    await say(session, 'more');
    await session.update({ model: null });
    await say(session, 'and more');
    expect(model.requests.map((request) => request.model)).toEqual(['scripted', 'bigger', 'bigger', 'scripted']);
  });

  test('S3-12 an update is taken whole or not at all', async () => {
    const session = await open(bot([]));
    for (const bad of [
      {},
      { model: 3 },
      { title: 't', colour: 'red' },
      { permissionMode: 'plann' },
      null,
      { tools: 'x' },
    ]) {
      expect((await refusal(session.update(bad as SessionUpdate))).code).toBe('E_BAD_INPUT');
    }
    expect(await all(session.events())).toEqual([]);
  });

  test('S3-13 S3-15 F33 a steer waits for the results of the batch, then the model hears it', async () => {
    const a = slowTool('a');
    const b = notingTool('b');
    const model = new ScriptedModel([{ calls: [['a'], ['b']] }, 'done']);
    const session = await open(bot(model, { tools: [a.tool, b.tool] }), { toolConcurrency: 1 });
    const run = follow(session, 'go');
    await a.started;
    const { disposition, steerId } = await session.steer({ content: [{ type: 'text', text: 'also X' }] });
    expect(disposition).toBe('current_turn');
    a.finish('first');
    const events = await run.ended;
    // Queued calls are not cancelled by it.
    expect(b.runs).toHaveLength(1);
    expect(told(model, 1)).toEqual([
      'user: go',
      'model: call a|call b',
      'user: a = {"content":"first"}|b = {"content":"b done"}',
      'user: also X',
    ]);
    expect(ofType(events, 'custom').find(({ kind }) => kind === 'steer_applied')).toMatchObject({
      data: { steerIds: [steerId] },
    });
  });

  test('S3-13 F36 a steer during the last model call goes on with the turn; one after it stands before the next message', async () => {
    const speaking = door();
    const goOn = door();
    const model = new ScriptedModel([
      async () => {
        speaking.open();
        await goOn.opened;
        return 'first';
      },
      'second',
      'third',
    ]);
    const session = await open(bot(model));
    const run = follow(session, 'go');
    await speaking.opened;
    expect((await session.steer({ content: 'also X' })).disposition).toBe('current_turn');
    goOn.open();
    expect(brief(await run.ended).filter((line) => line.startsWith('agent: '))).toEqual([
      'agent: first',
      'agent: second',
    ]);
    expect((await session.steer({ content: 'late' })).disposition).toBe('next_turn');
    await say(session, 'queued');
    expect(told(model, 2)).toEqual([
      'user: go',
      'model: first',
      'user: also X',
      'model: second',
      'user: late',
      'user: queued',
    ]);
    model.assertUsedUp();
  });

  test('S3-13 a steer to a paused turn lands in that turn', async () => {
    const model = new ScriptedModel([{ calls: [['away']] }, 'done']);
    const session = await open(bot(model, { tools: [tool('away')] }));
    await say(session, 'go');
    expect((await session.steer({ content: 'also X' })).disposition).toBe('current_turn');
    const { requestId } = await only(session);
    await say(session, { kind: 'tool_result', requestId, result: text('42') });
    expect(told(model, 1).at(-1)).toBe('user: also X');
  });

  test('S3-14 F15 F35 abort in mid-model: what was said is kept, the stream ends aborted, nothing is left open', async () => {
    const unhandled = watchRejections();
    const hang = door();
    const session = await open(
      bot({
        name: 'slow',
        async *generate(_, { signal }) {
          yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'Hel' }] } };
          await hang.opened;
          signal.throwIfAborted();
        },
      }),
    );
    const run = follow(session, 'go');
    await run.seen('message', ({ partial }) => partial === true);
    await session.abort({ reason: 'enough' });
    const events = await run.ended;
    hang.open();
    expect(brief(events).slice(-3)).toEqual(['agent~: Hel', 'agent: Hel', 'end aborted']);
    expect(ofType(events, 'message').at(-1)).toMatchObject({ interrupted: true });
    await session.abort();
    expect(await unhandled()).toEqual([]);
  });

  test('S3-14 F15 F35 abort in mid-tool: the signal fires, the call is interrupted, its late outcome is dropped, the next turn works', async () => {
    const unhandled = watchRejections();
    const slow = slowTool('slow');
    const late = Promise.withResolvers<never>();
    const stubborn = tool('stubborn', () => late.promise);
    const model = new ScriptedModel([{ calls: [['slow'], ['stubborn']] }, 'hello']);
    const session = await open(bot(model, { tools: [slow.tool, stubborn] }));
    const run = follow(session, 'go');
    const { signal } = await slow.started;
    await session.abort();
    expect(signal.aborted).toBe(true);
    expect(brief(await run.ended).slice(-3)).toEqual(['stubborn = interrupted', 'slow = interrupted', 'end aborted']);
    slow.finish('too late');
    late.reject(new Error('too late as well'));
    expect(endOf(await say(session, 'hi')).reason).toBe('completed');
    const calls = told(model, 1).join('\n');
    expect(calls).toMatch(/slow = .*interrupted/);
    expect(calls).not.toContain('too late');
    expect(await unhandled()).toEqual([]);
  });

  test('S3-14 F35 leaving the loop aborts; watching does not own', async () => {
    const unhandled = watchRejections();
    const slow = slowTool('slow');
    const session = await open(bot([{ calls: [['slow']] }, 'never'], { tools: [slow.tool] }));
    const watched: AgentEvent[] = [];
    const watch = (async () => {
      for await (const event of session.events({ live: true })) {
        watched.push(event);
        if (event.type === 'stream_end') break;
      }
    })();
    for await (const event of session.stream('go')) if (event.type === 'tool_update') break;
    await watch;
    expect(brief(watched)).toEqual([
      'user: go',
      'call slow',
      'update started',
      'custom policy_decision',
      'slow = interrupted',
      'end aborted',
    ]);
    slow.finish(1);
    expect(await unhandled()).toEqual([]);
  });

  test('S3-15 parts go in as the user’s content', async () => {
    const model = new ScriptedModel(['ok']);
    const session = await open(bot(model));
    const given = [
      { type: 'text' as const, text: 'look' },
      { type: 'media' as const, mimeType: 'image/png', data: 'AA==' },
    ];
    const stream = session.stream({ kind: 'message', content: given });
    given.push({ type: 'text', text: 'smuggled in' });
    await all(stream);
    expect(model.requests[0]?.contents[0]?.parts.map(({ type }) => type)).toEqual(['text', 'media', 'text']);
    // Copied at the first next(): later writes change nothing.
    const second = session.stream({ kind: 'message', content: given });
    await second.next();
    given.splice(0);
    await all(second);
    expect(model.requests[1]?.contents.at(-1)?.parts).toHaveLength(3);
  });

  test('S3-18 tools of the call are offered beside the agent’s own; its model is asked', async () => {
    const model = new ScriptedModel([{ calls: [['extra', { n: 1 }]] }]);
    const extra: ToolDescriptor = { name: 'extra', description: 'more', inputSchema: { type: 'object' } };
    const session = await open(bot(model, { tools: [tool('own', () => 1)] }));
    const events = await say(session, 'go', { tools: [extra], model: 'bigger' });
    expect(model.requests[0]).toMatchObject({ tools: ['own', 'extra'], model: 'bigger' });
    expect(await only(session)).toMatchObject({ name: 'extra', args: { n: 1 }, handledBy: 'host' });
    expect(endOf(events).reason).toBe('input_required');
  });

  test('S3-19 S3-22 host execution: the call is announced and stored, nothing runs, the stream ends', async () => {
    const own = notingTool('own');
    const { source, sessions } = sourceOf(bot([{ calls: [['own', { n: 1 }]] }, 'done'], { tools: [own.tool] }));
    const session = await source.open({}, context);
    const events = await say(session, 'go', { hostToolExecution: true });
    expect(brief(events).slice(-2)).toEqual(['call own', 'end input_required']);
    expect(own.runs).toEqual([]);
    const log = (await sessions.get({ ...context, id: session.id }))?.events ?? [];
    expect(log.at(-1)?.content?.parts).toMatchObject([{ type: 'function_call', name: 'own', args: { n: 1 } }]);
    const { requestId } = await only(session);
    await say(session, { kind: 'tool_approval', requestId }, { hostToolExecution: true });
    expect(own.runs).toEqual([{ n: 1 }]);
  });

  test('S3-19 R11 streaming: false hides partials, and the model is told', async () => {
    const asked: boolean[] = [];
    const session = await open(
      bot({
        name: 'm',
        async *generate(_, { stream }) {
          asked.push(stream);
          yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'hi' }] } };
          yield { content: { role: 'model', parts: [{ type: 'text', text: 'hi' }] } };
        },
      }),
    );
    const hidden = await say(session, 'go', { streaming: false });
    const shown = await say(session, 'go');
    expect(asked).toEqual([false, true]);
    expect(ofType(hidden, 'message').some(({ partial }) => partial)).toBe(false);
    expect(ofType(shown, 'message').some(({ partial }) => partial)).toBe(true);
  });

  test('S3-21 a signal ends the invocation, before it begins or in the midst', async () => {
    const slow = slowTool('slow');
    const session = await open(bot([{ calls: [['slow']] }], { tools: [slow.tool] }));
    const controller = new AbortController();
    const run = follow(session, 'go', { signal: controller.signal });
    await slow.started;
    controller.abort();
    expect(endOf(await run.ended).reason).toBe('aborted');
    expect(endOf(await say(session, 'again', { signal: AbortSignal.abort() })).reason).toBe('aborted');
    expect(slow.runs).toHaveLength(1);
  });

  test('S3-24 S3-25 the same agent goes on when all calls are answered, in any order', async () => {
    const model = new ScriptedModel([{ calls: [['a'], ['b']] }, 'done']);
    const session = await open(bot(model, { tools: [tool('a'), tool('b')] }));
    await say(session, 'go');
    const [a, b] = await session.pending();
    const first = await say(session, { kind: 'tool_result', requestId: b?.requestId ?? '', result: text('B') });
    expect(endOf(first)).toMatchObject({ reason: 'input_required', data: { pending: [{ name: 'a' }] } });
    expect(model.requests).toHaveLength(1);
    const second = await say(session, { kind: 'tool_result', requestId: a?.requestId ?? '', result: text('A') });
    expect(endOf(second)).toMatchObject({ reason: 'completed', agentId: 'bot' });
    // Call order, whatever the order of the answers.
    expect(told(model, 1).at(-1)).toBe('user: a = {"content":"A"}|b = {"content":"B"}');
  });

  test('S3-25 answers in one array are taken together, or none', async () => {
    const model = new ScriptedModel([{ calls: [['a'], ['b']] }, 'done']);
    const session = await open(bot(model, { tools: [tool('a'), tool('b')] }));
    await say(session, 'go');
    const [a, b] = (await session.pending()).map(({ requestId }) => requestId);
    const before = (await all(session.events())).length;
    const answer = (requestId = '') => ({ kind: 'tool_result' as const, requestId, result: text('x') });
    for (const [inputs, code] of [
      [[answer(a), answer('nobody')], 'E_UNKNOWN_REQUEST'],
      [[answer(a), answer(a)], 'E_REQUEST_CLOSED'],
      [[answer(a), { kind: 'elicitation_response', requestId: b, response: { action: 'accept' } }], 'E_WRONG_ANSWER'],
    ] as [SessionInput[], string][]) {
      expect((await refusal(firstOf(session, inputs))).code).toBe(code);
    }
    expect(await all(session.events())).toHaveLength(before);
    expect(await session.pending()).toHaveLength(2);
    expect(endOf(await say(session, [answer(b), answer(a)])).reason).toBe('completed');
  });

  test('S3-26 S3-28 a confirmation ends the run; on yes the tool runs once more, confirmed, and once only', async () => {
    const confirmations: unknown[] = [];
    const pay = tool('pay', (_, context) => {
      confirmations.push(context.confirmation);
      if (!context.confirmation) context.requestConfirmation({ hint: 'Really?', payload: { eur: 5 } });
      return 'paid';
    });
    const { source, sessions } = sourceOf(bot([{ calls: [['pay']] }, 'done'], { tools: [pay] }));
    const session = await source.open({}, context);
    await say(session, 'go');
    const { requestId, callId = '' } = await only(session);
    const log = (await sessions.get({ ...context, id: session.id }))?.events ?? [];
    expect(log.map(({ actions }) => actions.requestedToolConfirmations).find(Boolean)).toEqual({
      [callId]: { hint: 'Really?', payload: { eur: 5 } },
    });
    const events = await say(session, { kind: 'elicitation_response', requestId, response: { action: 'accept' } });
    expect(results(events)).toEqual({ pay: 'paid' });
    expect(confirmations).toEqual([undefined, { confirmed: true }]);
  });

  test('S3-29 S3-75 decline: the tool is not run again, the model hears the rejection; cancel differs', async () => {
    for (const [action, type] of [
      ['decline', 'denied'],
      ['cancel', 'cancelled'],
    ] as const) {
      const runs: unknown[] = [];
      const pay = tool('pay', (_, context) => {
        runs.push(1);
        context.requestConfirmation({ hint: 'Really?' });
        return undefined;
      });
      const model = new ScriptedModel([{ calls: [['pay']] }, 'as you like']);
      const session = await open(bot(model, { tools: [pay] }));
      await say(session, 'go');
      const { requestId } = await only(session);
      const events = await say(session, { kind: 'elicitation_response', requestId, response: { action } });
      expect(brief(events).slice(0, 2)).toEqual([`answer ${action}`, `pay = ${type}`]);
      expect(runs).toHaveLength(1);
      expect(told(model, 1).at(-1)).toContain(type);
    }
  });

  test('S3-30 F19 a confirmation is found and answered after a restart, over a long history', async () => {
    const runs: unknown[] = [];
    const pay = tool('pay', (_, context) => {
      runs.push(context.confirmation);
      if (!context.confirmation) context.requestConfirmation({ hint: 'Really?' });
      return 'paid';
    });
    const agent = (answers: ConstructorParameters<typeof ScriptedModel>[0]) =>
      bot(new ScriptedModel(answers), { tools: [pay] });
    const path = await databaseFile();
    let store = openSqlite(path);
    const first = await fromAgent(agent(['x'.repeat(1_000_000), { calls: [['pay']] }]), { store: store }).open(
      {},
      context,
    );
    await say(first, 'talk');
    await say(first, 'pay');
    const asked = await only(first);
    await store.close();
    store = openSqlite(path);
    const source = fromAgent(agent(['done']), { store: store });
    expect(await source.sessions?.(context).open?.()).toEqual([
      {
        userId: 'ann',
        sessionId: first.id,
        calls: [asked.callId],
        tools: ['pay'],
        since: expect.any(Number),
        lastSeq: expect.any(Number),
      },
    ]);
    const second = await source.open({ sessionId: first.id }, context);
    expect(await only(second)).toEqual(asked);
    expect(await second.respond(asked.requestId, { kind: 'approve' })).toEqual({ status: 'settled' });
    const events = await say(second, { kind: 'continue' });
    expect([results(events), runs]).toEqual([{ pay: 'paid' }, [undefined, { confirmed: true }]]);
    await store.close();
  });

  test('F25 of two streams one wins; the other is refused before it does anything', async () => {
    const path = await databaseFile();
    const stores = [openSqlite(path), openSqlite(path)];
    const speaking = door();
    const goOn = door();
    const model = new ScriptedModel([
      async () => {
        speaking.open();
        await goOn.opened;
        return 'one';
      },
      'two',
      'three',
    ]);
    const [one, two] = stores.map((sessions) => fromAgent(bot(model), { store: sessions }));
    const first = await one?.open({}, context);
    if (!first) throw new Error('no session');
    const here = await one?.open({ sessionId: first.id }, context);
    const there = await two?.open({ sessionId: first.id }, context);
    const run = follow(first, 'go');
    await speaking.opened;
    for (const other of [first, here, there]) {
      expect(await refusal(firstOf(other as AdkSession, 'me too'))).toMatchObject({
        status: 'ABORTED',
        code: 'E_SESSION_BUSY',
      });
    }
    expect(model.requests).toHaveLength(1);
    goOn.open();
    expect(endOf(await run.ended).reason).toBe('completed');
    expect(endOf(await say(there as AdkSession, 'me too')).reason).toBe('completed');
    // Its own handle has become stale, and goes on all the same.
    expect(endOf(await say(first, 'again')).reason).toBe('completed');
    expect(told(model, 2)).toEqual(['user: go', 'model: one', 'user: me too', 'model: two', 'user: again']);
    for (const store of stores) await store.close();
  });

  test('F25 an answer finds a request that another process has made since', async () => {
    const sessions = new InMemorySessionService();
    const path = await databaseFile();
    const [here, there] = [openSqlite(path), openSqlite(path)];
    await sessions.close();
    const pay = notingTool('pay', { needsApproval: true });
    const sourceIn = (store: SessionService) =>
      fromAgent(bot([{ calls: [['pay']] }, 'done'], { tools: [pay.tool] }), { store: store });
    const first = await sourceIn(here).open({}, context);
    const second = await sourceIn(there).open({ sessionId: first.id }, context);
    await say(second, 'go');
    const { requestId } = await only(second);
    expect(await first.respond(requestId, { kind: 'approve' })).toEqual({ status: 'settled' });
    expect(await second.respond(requestId, { kind: 'approve' })).toMatchObject({ status: 'already_settled' });
    await say(second, { kind: 'continue' });
    expect(pay.runs).toHaveLength(1);
    await here.close();
    await there.close();
  });

  test('MUT-R21 what one call waits for is read behind what another process has stored', async () => {
    const path = await databaseFile();
    const [here, there] = [openSqlite(path), openSqlite(path)];
    const pay = notingTool('pay', { needsApproval: true });
    const sourceIn = (store: SessionService) =>
      fromAgent(bot([{ calls: [['pay']] }, 'done'], { tools: [pay.tool] }), { store });
    const first = await sourceIn(here).open({}, context);
    const second = await sourceIn(there).open({ sessionId: first.id }, context);
    await say(second, 'go');
    const { requestId } = await only(second);
    expect(await openRequest(first, requestId)).toMatchObject({ name: 'pay' });
    await second.respond(requestId, { kind: 'approve' });
    await say(second, { kind: 'continue' });
    expect(await openRequest(first, requestId)).toBeUndefined();
    await here.close();
    await there.close();
  });

  test('S3-11 continue: refused without a turn and after a complete one, opens an aborted and a limited one again', async () => {
    const look = tool('look', () => 1, readOnly);
    const steps = [{ calls: [['look']] }, { calls: [['look']] }, 'done', { calls: [['away']] }, 'later'] as const;
    const session = await open(bot([...steps], { tools: [look, tool('away')] }));
    expect((await refusal(firstOf(session, { kind: 'continue' }))).code).toBe('E_NO_TURN');
    const limited = await say(session, 'go', { limits: { steps: 2 } });
    expect(endOf(limited).reason).toBe('max_turns');
    expect(ofType(limited, 'error')).toMatchObject([{ code: 'E_MAX_LLM_CALLS', fatal: false }]);
    const again = await say(session, { kind: 'continue' }, { limits: { steps: 2 } });
    expect([endOf(again).reason, endOf(again).turnId]).toEqual(['completed', endOf(limited).turnId]);
    expect((await refusal(firstOf(session, { kind: 'continue' }))).code).toBe('E_TURN_COMPLETED');
    await say(session, 'more');
    await session.abort();
    expect(await session.pending()).toEqual([]);
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
  });

  test('F22 whilePending: cancel settles, hold refuses, proceed keeps the call open', async () => {
    const model = new ScriptedModel([{ calls: [['away']] }, 'two', 'three', { calls: [['away']] }, 'five', 'six']);
    const session = await open(bot(model, { tools: [tool('away')] }));
    await say(session, 'go');
    const { requestId: old } = await only(session);
    expect((await refusal(firstOf(session, 'approve', { whilePending: 'hold' }))).code).toBe('E_INPUT_REQUIRED');
    expect(await session.pending()).toHaveLength(1);
    const cancelled = await say(session, 'approve');
    expect(brief(cancelled).slice(0, 2)).toEqual(['away = cancelled', 'user: approve']);
    expect(told(model, 1).join()).toContain('cancelled');
    expect((await refusal(session.respond(old, { kind: 'result', result: text('x') }))).code).toBe('E_REQUEST_CLOSED');
    await say(session, 'on');
    await say(session, 'go');
    const { requestId } = await only(session);
    const proceeded = await say(session, 'meanwhile', { whilePending: 'proceed' });
    expect(endOf(proceeded)).toMatchObject({ reason: 'completed', data: { pending: [{ requestId }] } });
    const late = await say(session, { kind: 'tool_result', requestId, result: text('42') });
    expect(brief(late)[0]).toBe('away = 42');
    expect(told(model, 5).at(-1)).toContain('42');
  });
});

describe('answers', () => {
  async function asking() {
    const pay = notingTool('pay', { needsApproval: true, inputSchema: amount });
    const session = await open(bot([{ calls: [['pay', { eur: 5 }]] }, 'done'], { tools: [pay.tool] }));
    await say(session, 'go');
    return { pay, session, request: await only(session) };
  }
  const amount = { type: 'object', properties: { eur: { type: 'number', maximum: 100 } }, required: ['eur'] };

  test('S3-24 an answer is durable when respond resolves, whoever iterates or not', async () => {
    const { pay, session, request } = await asking();
    await session.respond(request.requestId, { kind: 'approve', by: { id: 'bob' } });
    expect(ofType(await all(session.events()), 'elicitation_response')).toMatchObject([
      { action: 'accept', by: 'bob' },
    ]);
    expect(pay.runs).toEqual([]);
    expect(await session.pending()).toEqual([]);
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('F23 S3-24 unknown id, another session’s, wrong kind, a second answer: named, and nothing stored', async () => {
    const { session, request } = await asking();
    const other = await asking();
    const before = (await all(session.events())).length;
    const tries: [string, Parameters<AdkSession['respond']>[1], string][] = [
      ['nobody', { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      ['__proto__', { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [`${request.callId}#7`, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [other.request.requestId, { kind: 'approve' }, 'E_UNKNOWN_REQUEST'],
      [request.requestId, { kind: 'result', result: text('x') }, 'E_WRONG_ANSWER'],
      [request.requestId, { kind: 'approve', args: { eur: 1000 } }, 'E_WRONG_ANSWER'],
      [request.requestId, { kind: 'approve', args: { eur: 'much' } }, 'E_WRONG_ANSWER'],
    ];
    for (const [id, answer, code] of tries) {
      expect(await refusal(session.respond(id, answer))).toMatchObject({ code, message: expect.stringMatching(/./) });
    }
    expect(await all(session.events())).toHaveLength(before);
    expect(await session.respond(request.requestId, { kind: 'deny', by: { id: 'bob' } })).toEqual({
      status: 'settled',
      by: 'bob',
    });
    expect(await session.respond(request.requestId, { kind: 'approve' })).toEqual({
      status: 'already_settled',
      outcome: 'decline',
      by: 'bob',
    });
    expect(await all(session.events())).toHaveLength(before + 1);
  });

  test('F23 two who answer at once: one settles, the other learns who did', async () => {
    const { pay, session, request } = await asking();
    const answers = await Promise.all([
      session.respond(request.requestId, { kind: 'approve', by: { id: 'ann' } }),
      session.respond(request.requestId, { kind: 'deny', by: { id: 'bob' } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['already_settled', 'settled']);
    const winner = answers.find(({ status }) => status === 'settled')?.by;
    expect(answers.find(({ status }) => status === 'already_settled')?.by).toBe(winner);
    await say(session, { kind: 'continue' });
    expect(pay.runs).toHaveLength(winner === 'ann' ? 1 : 0);
  });

  test('F23 edited arguments run, and both versions are in the log', async () => {
    const { pay, session, request } = await asking();
    await session.respond(request.requestId, { kind: 'approve', args: { eur: 3 }, by: { id: 'ann' } });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 3 }]);
    const log = await all(session.events());
    expect(ofType(log, 'tool_request')[0]?.args).toEqual({ eur: 5 });
    expect(ofType(log, 'custom').find(({ kind }) => kind === 'policy_decision')).toMatchObject({
      data: { outcome: 'approved', by: 'user:ann', args: { eur: 3 } },
    });
  });

  test('F20 nothing executes without a stored approve, whatever the tool’s code does', async () => {
    const { pay, session } = await asking();
    await say(session, { kind: 'continue' });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    expect(await session.pending()).toHaveLength(1);
  });
});

describe('hostile input', () => {
  const deep = (levels: number) => {
    let value: unknown = 'x';
    for (let n = 0; n < levels; n++) value = { value };
    return value;
  };
  const cases: [string, unknown, string][] = [
    ['no kind', {}, 'E_BAD_INPUT'],
    ['an unknown kind', { kind: 'shout' }, 'E_BAD_INPUT'],
    ['nothing', null, 'E_BAD_INPUT'],
    ['a number', 7, 'E_BAD_INPUT'],
    ['an empty list', [], 'E_BAD_INPUT'],
    ['two messages', ['a', 'b'].map((content) => ({ kind: 'message', content })), 'E_BAD_INPUT'],
    ['a message and continue', [{ kind: 'message', content: 'a' }, { kind: 'continue' }], 'E_BAD_INPUT'],
    ['content that is none', { kind: 'message', content: 7 }, 'E_BAD_INPUT'],
    ['a part without type', { kind: 'message', content: [{ text: 'x' }] }, 'E_BAD_INPUT'],
    ['a text part without text', { kind: 'message', content: [{ type: 'text' }] }, 'E_BAD_INPUT'],
    ['a result without content', { kind: 'tool_result', requestId: 'x', result: {} }, 'E_BAD_INPUT'],
    ['no request id', { kind: 'tool_approval' }, 'E_BAD_INPUT'],
    [
      'an action that is none',
      { kind: 'elicitation_response', requestId: 'x', response: { action: 'maybe' } },
      'E_BAD_INPUT',
    ],
    ['10,000 levels', { kind: 'message', content: [{ type: 'text', text: 'x', _meta: deep(10_000) }] }, 'E_TOO_DEEP'],
    ['5 MB of text', 'x'.repeat(5 * 1024 * 1024), 'E_TOO_LARGE'],
    [
      '5 MB in a part',
      { kind: 'message', content: [{ type: 'media', data: 'x'.repeat(5 * 1024 * 1024) }] },
      'E_TOO_LARGE',
    ],
    ['a BigInt', { kind: 'message', content: [{ type: 'text', text: 'x', _meta: { n: 1n } }] }, 'E_NOT_JSON'],
  ];

  test.each(cases)('S3-11 %s is refused with a typed error and nothing is stored', async (_, input, code) => {
    const session = await open(bot(['never']));
    const refused = await refusal(firstOf(session, untyped(input)));
    expect(refused).toMatchObject({ status: 'INVALID_ARGUMENT', code });
    expect(refused.message.length).toBeLessThan(400);
    expect(await all(session.events())).toEqual([]);
    expect(endOf(await say(session, 'still alive')).reason).toBe('completed');
  });

  test('S3-11 __proto__ is an ordinary key; lone surrogates do no harm', async () => {
    const model = new ScriptedModel(['ok']);
    const { source, sessions } = sourceOf(bot(model));
    const session = await source.open({}, context);
    const part = JSON.parse('{"type":"text","text":"a\\ud800","_meta":{"__proto__":{"polluted":true}}}');
    await say(session, { kind: 'message', content: [part] });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const [event] = (await sessions.get({ ...context, id: session.id }))?.events ?? [];
    expect(Object.keys((event?.content?.parts[0]?._meta as object) ?? {})).toEqual(['__proto__']);
    expect(JSON.stringify(await all(session.events())).isWellFormed()).toBe(true);
  });

  test('S3-11 what a model makes up as arguments never runs half', async () => {
    const pay = notingTool('pay', {
      inputSchema: { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] },
    });
    const model = new ScriptedModel([
      {
        calls: [
          ['pay', deep(10_000)],
          ['pay', JSON.parse('{"eur":5,"__proto__":{"x":1}}')],
          ['pay', []],
          ['pay', { eur: 'x' }],
        ],
      },
      'done',
    ]);
    const session = await open(bot(model, { tools: [pay.tool] }));
    const events = await say(session, 'go');
    expect(
      ofType(events, 'tool_response')
        .map(({ errorType }) => errorType)
        .sort(),
    ).toEqual(['invalid_args', 'invalid_args', 'invalid_args', undefined]);
    expect(pay.runs).toHaveLength(1);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

describe('sessions', () => {
  test('S3-16 open by id: found, made on demand, or refused', async () => {
    const { source } = sourceOf(bot(['one', 'two']));
    expect((await refusal(source.open({ sessionId: 's1' }, context))).code).toBe('E_SESSION_NOT_FOUND');
    const made = await source.open({ sessionId: 's1', create: true, state: { k: 1 } }, context);
    await say(made, 'hi');
    const found = await source.open({ sessionId: 's1' }, context);
    expect(await all(found.events())).toEqual(await all(made.events()));
    // R12: another user does not see it.
    expect((await refusal(source.open({ sessionId: 's1' }, { ...context, userId: 'eve' }))).code).toBe(
      'E_SESSION_NOT_FOUND',
    );
    for (const sessionId of ['', 'a/b', '..', 'x\u0000', '\ud800']) {
      expect((await refusal(source.open({ sessionId, create: true }, context))).code, sessionId).toBe('E_ID');
    }
  });

  test('S3-16 two who make the same session at once open the same one', async () => {
    const { source } = sourceOf(bot([]));
    const ref = { sessionId: 'both', create: true };
    const made = await Promise.all([source.open(ref, context), source.open(ref, context)]);
    expect(made.map(({ id }) => id)).toEqual(['both', 'both']);
  });

  test('S3-16 open from a snapshot: the conversation goes on elsewhere, with its state and its open requests', async () => {
    const agent = (answers: ConstructorParameters<typeof ScriptedModel>[0]) =>
      bot(new ScriptedModel(answers), { tools: [tool('away')] });
    const first = (await sourceOf(agent(['one', { calls: [['away']] }])).source.open(
      { state: { k: 'began' } },
      context,
    )) as AdkSession;
    await say(first, 'hi');
    await say(first, 'go');
    const snapshot = JSON.parse(JSON.stringify(await snapshotOf(first)));
    const model = new ScriptedModel(['done']);
    const { source, sessions } = sourceOf(bot(model, { tools: [tool('away')] }));
    const second = await source.open({ snapshot }, context);
    expect(second.id).toBe(first.id);
    expect((await sessions.get({ ...context, id: second.id }))?.state).toEqual({ k: 'began' });
    expect(await second.pending()).toEqual(await first.pending());
    const { requestId } = await only(second);
    await say(second, { kind: 'tool_result', requestId, result: text('42') });
    expect(told(model, 0)).toEqual([
      'user: hi',
      'model: one',
      'user: go',
      'model: call away',
      'user: away = {"content":"42"}',
    ]);
    // The original knows nothing of it.
    expect(await first.pending()).toHaveLength(1);
    const empty = { id: 'x', agentName: 'shop', events: [], state: {}, lastUpdateTime: 0 };
    expect((await refusal(source.open({ snapshot: empty }, context))).code).toBe('E_UNSUPPORTED');
  });

  test('S3-17 a fork goes its own way, without the open requests; the original stays as it is', async () => {
    const { source } = sourceOf(
      bot([{ calls: [['away']] }, 'in the copy', 'in the original'], { tools: [tool('away')] }),
    );
    const original = await source.open({}, context);
    await say(original, 'go');
    const before = await all(original.events());
    const copy = await source.open({ sessionId: original.id, fork: true }, context);
    expect(copy.id).not.toBe(original.id);
    expect(await copy.pending()).toEqual([]);
    expect(brief(await all(copy.events())).slice(-2)).toEqual(['away = cancelled', 'end aborted']);
    await say(copy, 'hi');
    expect(await all(original.events())).toEqual(before);
    const { requestId } = await only(original);
    expect((await refusal(copy.respond(requestId, { kind: 'result', result: text('x') }))).code).toBe(
      'E_REQUEST_CLOSED',
    );
    expect(endOf(await say(original, { kind: 'tool_result', requestId, result: text('42') })).reason).toBe('completed');
  });

  test('S3-17 a fork after a cursor holds what came up to there', async () => {
    const { source } = sourceOf(bot(['one', 'two']));
    const original = await source.open({}, context);
    const cursor = endOf(await say(original, 'a')).cursor;
    await say(original, 'b');
    const copy = await source.open(
      { sessionId: original.id, fork: { ...(cursor === undefined ? {} : { after: cursor }) } },
      context,
    );
    expect(brief(await all(copy.events()))).toEqual(['user: a', 'agent: one', 'end completed']);
  });

  test('S3-67 S3-68 S3-69 sessions are listed, loaded and deleted within their user; prefixed keys stay flat', async () => {
    const set = ownTool('set', (_, { state }) => {
      for (const key of ['k', 'app:k', 'user:k', 'temp:k']) state.set(key, key);
      return 1;
    });
    const { source } = sourceOf(bot([{ calls: [['set']] }, 'done'], { tools: [set] }));
    const provider = source.sessions?.(context);
    if (!provider) throw new Error('no provider');
    const session = await source.open({}, context);
    await say(session, 'go');
    const handle = await provider.load(session.id);
    expect(handle).toMatchObject({
      id: session.id,
      agentName: 'shop',
      state: { k: 'k', 'app:k': 'app:k', 'user:k': 'user:k' },
    });
    expect(handle?.state).not.toHaveProperty('temp:k');
    expect(handle?.lastUpdateTime).toBeGreaterThan(0);
    expect(brief(handle?.events ?? [])).toContain('call set');
    const made = await provider.create({ id: 'mine', state: { x: 1 }, title: 'Mine' });
    expect(made).toMatchObject({ id: 'mine', state: { x: 1, 'app:k': 'app:k', 'user:k': 'user:k' } });
    expect((await provider.list()).map(({ id }) => id)).toEqual(['mine', session.id]);
    const eve = source.sessions?.({ ...context, userId: 'eve' });
    expect(await eve?.list()).toEqual([]);
    expect(await eve?.load('mine')).toBeUndefined();
    // Another user shares the app's keys only.
    expect((await eve?.create())?.state).toEqual({ 'app:k': 'app:k' });
    await provider.delete('mine');
    expect(await provider.load('mine')).toBeUndefined();
    // Absent: the user is `local`.
    expect(await source.sessions?.({ app: 'shop' }).list()).toEqual([]);
  });

  test('S3-67 events({after}) resumes exactly, from any cursor', async () => {
    const usage = { inputTokens: 1 };
    const session = await open(
      bot(
        [
          { text: 'x', calls: [['a'], ['b']], usage },
          { text: 'done', usage },
        ],
        { tools: [tool('a', () => 1), tool('b', () => 2)] },
      ),
    );
    const live: AgentEvent[] = [];
    const watch = session.events({ live: true })[Symbol.asyncIterator]();
    const firstLive = watch.next();
    const shown = (await say(session, 'go')).filter(({ cursor }) => cursor !== undefined);
    const every = await all(session.events());
    expect(every.map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
    expect(new Set(every.map(({ cursor }) => cursor)).size).toBe(every.length);
    for (const [index, { cursor }] of every.entries()) {
      const after = cursor ?? '';
      expect(await all(session.events({ after }))).toEqual(every.slice(index + 1));
      expect(await all(session.events({ after, limit: 2 }))).toEqual(every.slice(index + 1, index + 3));
    }
    live.push((await firstLive).value);
    while (live.length < every.length) live.push((await watch.next()).value);
    expect(live).toEqual(every);
    await watch.return?.();
    for (const after of ['x', '1', '-1.0', '1.x', '']) {
      expect((await refusal(all(session.events({ after })))).code).toBe('E_BAD_INPUT');
    }
  });

  test('S3-67 events({live}) goes from history to the present without a hole', async () => {
    const session = await open(bot(['one', 'two']));
    await say(session, 'a');
    const [first] = await all(session.events());
    const after = first?.cursor ?? '';
    const seen: AgentEvent[] = [];
    const watching = (async () => {
      for await (const event of session.events({ live: true, after, limit: 5 })) seen.push(event);
    })();
    await say(session, 'b');
    await watching;
    expect(brief(seen)).toEqual(['agent: one', 'end completed', 'user: b', 'agent: two', 'end completed']);
  });

  test('S3-14 closing one handle leaves another’s stream alone; a closed handle refuses', async () => {
    const { source } = sourceOf(bot([{ calls: [['slow']] }, 'done'], { tools: [] }));
    const slow = slowTool('slow');
    const own = sourceOf(bot([{ calls: [['slow']] }, 'done'], { tools: [slow.tool] })).source;
    const session = await own.open({}, context);
    const other = await own.open({ sessionId: session.id }, context);
    const run = follow(session, 'go');
    await slow.started;
    await other[Symbol.asyncDispose]();
    expect((await refusal(firstOf(other, 'hi'))).code).toBe('E_SESSION_CLOSED');
    expect((await refusal(other.steer({ content: 'x' }))).code).toBe('E_SESSION_CLOSED');
    slow.finish(1);
    expect(endOf(await run.ended).reason).toBe('completed');
    await session[Symbol.asyncDispose]();
    expect(await (await source.open({}, context)).pending()).toEqual([]);
  });
});

async function databaseFile(): Promise<string> {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const folder = await mkdtemp(join(tmpdir(), 'adk-session-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'sessions.db');
}
