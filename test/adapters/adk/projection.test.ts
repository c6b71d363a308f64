import { describe, expect, test } from 'vitest';
import type { FromAgentOptions } from '../../../src/adapters/adk/index.ts';
import { project } from '../../../src/adapters/adk/index.ts';
import { projectInPieces } from '../../../src/adapters/adk/project.ts';
import type { AgentEvent, ContentPart } from '../../../src/contracts/index.ts';
import { agentEvent } from '../../../src/contracts/schemas/index.ts';
import type { Agent } from '../../../src/index.ts';
import {
  CustomAgent,
  createView,
  fromAgent,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../../src/index.ts';
import type { EventInit } from '../../../src/runtime/index.ts';
import { createEvent } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, bot, brief, endOf, judged, ofType, only, ownTool, readOnly, say, tool } from '../../host/kit.ts';

const context = { app: 'shop', userId: 'ann' };

async function open(agent: Agent, options: FromAgentOptions = {}) {
  const sessions = options.store ?? new InMemorySessionService();
  return fromAgent(agent, { ...options, store: sessions }).open({}, context);
}

/** Durable events, as a restart would show them. */
async function stored(session: { events(): AsyncIterable<AgentEvent> }) {
  return all(session.events());
}

describe('events of a stream', () => {
  test('S3-33 all twelve types and a stranger pass schema and view', () => {
    const base = { id: 'x', timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 't' };
    const stranger = { ...base, id: 'y', type: 'x_rated', stars: 5 };
    expect(agentEvent.parse(stranger)).toEqual(stranger);
    const view = createView();
    view.apply(stranger as AgentEvent);
    expect(view.messages).toEqual([]);
    const known = agentEvent.options[0].options.map((option) => option.shape.type.value);
    expect(known).toHaveLength(12);
  });

  test('S3-34 initialize is first, on the first stream of a handle only', async () => {
    const session = await open(bot(['one', 'two']));
    const first = await say(session, 'hi');
    expect(first[0]).toMatchObject({ type: 'initialize', sessionId: session.id, agentId: 'bot' });
    expect(first[0]).not.toHaveProperty('seq');
    expect(ofType(await say(session, 'again'), 'initialize')).toEqual([]);
  });

  test('S3-34 initialize stays first when another process has written meanwhile', async () => {
    const sessions = new InMemorySessionService();
    const source = fromAgent(bot(['one', 'two']), { store: sessions });
    const session = await source.open({}, context);
    const key = { ...context, id: session.id };
    await sessions.append(key, [createEvent({ author: 'user', actions: { config: { title: 'from elsewhere' } } })]);
    const events = await all(session.stream('hi'));
    judged(session, events, []);
    expect(brief(events)).toEqual(['initialize', 'user: hi', 'agent~: one', 'agent: one', 'end completed']);
  });

  test('S3-35 session_update if and only if state changed', async () => {
    const set = ownTool('set', (_, { state }) => {
      state.set('k', 1);
      return 'ok';
    });
    const look = ownTool('look', (_, { state }) => state.get('k'));
    const session = await open(bot([{ calls: [['set']] }, { calls: [['look']] }, 'done'], { tools: [set, look] }));
    const updates = ofType(await say(session, 'go'), 'session_update');
    expect(updates.map(({ stateDelta }) => stateDelta)).toEqual([{ k: 1 }]);
  });

  test('S3-36 a message carries words and thoughts, never calls or responses', async () => {
    const model = new ScriptedModel([{ thought: 'hm', text: 'I look', calls: [['look']] }, 'done']);
    const session = await open(bot(model, { tools: [tool('look', () => 1, readOnly)] }));
    const messages = ofType(await say(session, 'go'), 'message').filter(({ partial }) => !partial);
    expect(messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['agent', ['thought', 'text']],
      ['agent', ['text']],
    ]);
  });

  test('S3-37 S3-50 one tool_request for each call, with its id, name and arguments', async () => {
    const model = new ScriptedModel([
      {
        calls: [
          ['a', { n: 1 }],
          ['b', { n: 2 }],
        ],
      },
      'done',
    ]);
    const session = await open(bot(model, { tools: [tool('a', () => 1), tool('b', () => 2)] }));
    const requests = ofType(await say(session, 'go'), 'tool_request');
    expect(requests.map(({ name, args, handledBy }) => [name, args, handledBy])).toEqual([
      ['a', { n: 1 }, 'agent'],
      ['b', { n: 2 }, 'agent'],
    ]);
    // The model is given the same ids back.
    const sent = model.requests[1]?.contents.flatMap(({ parts }) => parts) ?? [];
    expect(sent.filter((part) => part.type === 'function_call').map(({ id }) => id)).toEqual(
      requests.map(({ requestId }) => requestId),
    );
  });

  test('S3-38 a long-running tool shows its first word as tool_update, and its id at the end', async () => {
    const ship = tool('ship', () => ({ ticket: 7 }), { annotations: { longRunning: true } });
    const session = await open(bot([{ calls: [['ship']] }, 'on its way'], { tools: [ship] }));
    const events = await say(session, 'go');
    const [request] = ofType(events, 'tool_request');
    expect(ofType(events, 'tool_update').at(-1)).toMatchObject({ requestId: request?.requestId, status: 'pending' });
    expect(ofType(events, 'tool_response')).toEqual([]);
    expect(endOf(events)).toMatchObject({ reason: 'completed', data: { pendingToolIds: [request?.requestId] } });
    // R23: the real result comes later and opens a turn.
    const later = await say(session, {
      kind: 'tool_result',
      requestId: request?.requestId ?? '',
      result: { content: [{ type: 'text', text: 'delivered' }] },
    });
    expect(brief(later)).toContain('ship = delivered');
    expect(endOf(later)).not.toHaveProperty('data.pendingToolIds');
  });

  test('S3-38 progress of a tool is shown and not stored', async () => {
    const load = tool('load', async function* () {
      yield { progress: 1, total: 2 };
      return 'done';
    });
    const session = await open(bot([{ calls: [['load']] }, 'ok'], { tools: [load] }));
    const shown = ofType(await say(session, 'go'), 'tool_update').filter(({ progress }) => progress !== undefined);
    expect(shown).toMatchObject([{ progress: 1, total: 2 }]);
    expect(shown[0]).not.toHaveProperty('seq');
    expect(ofType(await stored(session), 'tool_update').every(({ status }) => status === 'started')).toBe(true);
  });

  test('S3-39 S3-52 one tool_response for each call; what a tool throws is an error result', async () => {
    const fail = tool('fail', () => {
      throw new Error('no stock');
    });
    const model = new ScriptedModel([{ calls: [['fail'], ['look']] }, 'done']);
    const session = await open(bot(model, { tools: [fail, tool('look', () => ({ n: 1 }), readOnly)] }));
    const responses = ofType(await say(session, 'go'), 'tool_response');
    expect(responses.find(({ name }) => name === 'fail')).toMatchObject({
      isError: true,
      errorType: 'failed',
      content: [{ type: 'text', text: 'no stock' }],
    });
    expect(responses.find(({ name }) => name === 'look')).toMatchObject({ structuredContent: { n: 1 } });
    expect(responses).toHaveLength(2);
  });

  test('S3-40 usage comes with the model’s name and sums up at the end', async () => {
    const usage = { inputTokens: 10, outputTokens: 2, cachedReadTokens: 4, cost: { usd: 0.5 } };
    const session = await open(
      bot(
        [
          { calls: [['look']], usage },
          { text: 'ok', usage },
        ],
        { tools: [tool('look', () => 1)] },
      ),
    );
    const events = await say(session, 'go');
    expect(ofType(events, 'usage')).toMatchObject([
      { model: 'scripted', ...usage },
      { model: 'scripted', ...usage },
    ]);
    expect(endOf(events).data).toMatchObject({
      steps: 2,
      usage: { inputTokens: 20, outputTokens: 4, cost: { usd: 1 } },
    });
  });

  test('S3-41 a provider’s error and a thrown one are error events, and the stream fails', async () => {
    for (const [step, code] of [
      [{ errorCode: 'OVERLOADED', errorMessage: 'later' }, 'E_MODEL'],
      [{ error: new Error('socket') }, 'E_MODEL'],
    ] as const) {
      const events = await say(await open(bot([step])), 'go');
      expect(ofType(events, 'error')).toMatchObject([{ fatal: true, code: expect.stringContaining(code) }]);
      expect(endOf(events).reason).toBe('failed');
    }
  });

  test('S3-42 stream_end is last and says why: completed, refusal, failed, aborted, max_turns, input_required', async () => {
    const ends: string[] = [];
    ends.push(endOf(await say(await open(bot(['ok'])), 'go')).reason);
    ends.push(endOf(await say(await open(bot([{ text: 'no', finishReason: 'refusal' }])), 'go')).reason);
    ends.push(endOf(await say(await open(bot([{ error: new Error('x') }])), 'go')).reason);
    const look = tool('look', () => 1, readOnly);
    const endless = bot(
      Array.from({ length: 9 }, () => ({ calls: [['look']] as const })),
      { tools: [look] },
    );
    ends.push(endOf(await say(await open(endless), 'go', { limits: { steps: 3 } })).reason);
    ends.push(endOf(await say(await open(bot([{ calls: [['away']] }], { tools: [tool('away')] })), 'go')).reason);
    const cut = await open(bot([() => new Promise(() => {})]));
    ends.push(endOf(await say(cut, 'go', { onEvent: (event) => event.type === 'message' && void cut.abort() })).reason);
    expect(ends).toEqual(['completed', 'refusal', 'failed', 'max_turns', 'input_required', 'aborted']);
  });

  test('S3-43 metadata is custom{metadata}, saved artifacts are custom{artifact_delta}', async () => {
    const agent = new CustomAgent({
      name: 'own',
      run: (own) => own.emit({ content: { role: 'model', parts: [] }, actions: { artifactDelta: { 'a.txt': 2 } } }),
    });
    expect(ofType(await say(await open(agent), 'go'), 'custom')).toMatchObject([
      { kind: 'artifact_delta', data: { 'a.txt': 2 } },
    ]);
    const event = { ...createEvent({ author: 'bot', customMetadata: { mood: 'fine' } }), seq: 4 };
    expect(project('s', event)).toMatchObject([{ type: 'custom', kind: 'metadata', data: { mood: 'fine' } }]);
  });

  test('S3-44 R14 under the host a transfer is a tool_request and a completed stream that offers it', async () => {
    const back = new LlmAgent({ name: 'back', description: 'bills' });
    const model = new ScriptedModel({
      byAgent: { front: [{ calls: [['transfer_to_agent', { agent_name: 'back' }]] }], back: ['billed'] },
      strict: false,
    });
    const session = await open(new LlmAgent({ name: 'front', model, subAgents: [back] }));
    const first = await say(session, 'go', { hostToolExecution: true });
    const [request] = ofType(first, 'tool_request');
    expect(endOf(first)).toMatchObject({
      reason: 'completed',
      data: { transfer: { requestId: request?.requestId, from: 'front', to: 'back' } },
    });
    const second = await say(
      session,
      { kind: 'tool_approval', requestId: request?.requestId ?? '' },
      { hostToolExecution: true },
    );
    expect(ofType(second, 'custom').map(({ kind }) => kind)).toContain('agent_transfer');
    expect(ofType(second, 'message').at(-1)).toMatchObject({ agentId: 'back' });
    expect(endOf(second)).toMatchObject({ reason: 'completed', agentId: 'back' });
    // The next turn starts where this one ended.
    expect(ofType(await say(session, 'more'), 'message').at(-1)).toMatchObject({ agentId: 'back' });
  });

  test('S3-45 what escalates to the root ends completed with a reason', async () => {
    const stop = ownTool('stop', (_, context) => {
      context.escalate();
      return 'enough';
    });
    const end = endOf(await say(await open(bot([{ calls: [['stop']] }, 'never'], { tools: [stop] })), 'go'));
    expect(end).toMatchObject({ reason: 'completed', data: { escalateReason: expect.any(String) } });
    const loop = new LoopAgent({
      name: 'loop',
      maxIterations: 3,
      subAgents: [bot([{ calls: [['stop']] }], { tools: [stop] })],
    });
    expect(endOf(await say(await open(loop), 'go')).data).not.toHaveProperty('escalateReason');
  });

  test('S3-46 skipSummarization shows in _meta', async () => {
    const raw = ownTool('raw', (_, context) => {
      context.skipSummarization();
      return 'as it is';
    });
    const events = await say(await open(bot([{ calls: [['raw']] }, 'never'], { tools: [raw] })), 'go');
    expect(ofType(events, 'tool_response')).toMatchObject([{ _meta: { skipSummarization: true } }]);
    expect(brief(events).at(-2)).toContain('raw = as it is');
  });

  test('S3-47 every event has id, ISO time, session and stream; agent, thread and source where there is one', async () => {
    const one = (name: string) => new LlmAgent({ name, model: new ScriptedModel(['hi']) });
    const session = await open(new ParallelAgent({ name: 'both', subAgents: [one('a'), one('b')] }));
    const events = await say(session, 'go');
    for (const event of events) {
      expect(new Date(event.timestamp).toISOString()).toBe(event.timestamp);
      expect([event.sessionId, event.streamId]).toEqual([session.id, events[0]?.streamId]);
      if (event.seq !== undefined) expect(event.cursor).toMatch(/^\d+\.\d+$/);
    }
    const told = ofType(events, 'message').filter(({ partial }) => !partial);
    expect(told.map(({ agentId, threadId, source }) => [agentId, threadId, source])).toEqual([
      ['user', undefined, 'user'],
      ['a', 'both.a', 'agent'],
      ['b', 'both.b', 'agent'],
    ]);
    expect(project('s', { ...createEvent({ author: 'bot', timestamp: 1, content: text('x') }), seq: 1 })).toMatchObject(
      [{ timestamp: '1970-01-01T00:00:00.001Z' }],
    );
  });

  test('S3-48 one record fans out in a fixed order, with an id and a cursor for each', () => {
    const event = {
      ...createEvent({
        id: 'e',
        author: 'bot',
        model: 'm',
        usage: { inputTokens: 1 },
        errorCode: 'E_MODEL',
        content: {
          role: 'model',
          parts: [
            { type: 'function_call', id: 'c', name: 'f', args: {} },
            { type: 'text', text: 'x' },
            { type: 'function_response', id: 'd', name: 'g', response: { content: 'y' } },
          ],
        },
        customMetadata: { a: 1 },
        actions: {
          stateDelta: { k: 1 },
          artifactDelta: { f: 1 },
          started: ['c'],
          asks: [{ requestId: 'c#0', callId: 'c', kind: 'tool_confirmation', message: '?' }],
          answers: { 'b#0': { action: 'accept' } },
          decisions: { c: { outcome: 'approved', by: 'policy' } },
        },
      }),
      seq: 3,
    };
    const events = project('s', event);
    expect(brief(events)).toEqual([
      'session_update',
      'agent: x',
      'call f',
      'update started',
      'g = y',
      'ask tool_confirmation',
      'answer accept',
      'usage',
      'custom policy_decision',
      'custom artifact_delta',
      'custom metadata',
      'error',
    ]);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => `e:${n}`));
    expect(events.map(({ cursor }) => cursor)).toEqual(events.map((_, n) => `3.${n}`));
    expect(project('s', event)).toEqual(events);
  });

  test('S3-51 what is for people never reaches the model', async () => {
    const model = new ScriptedModel([{ calls: [['look']] }, 'done']);
    const look = tool('look', () => ({
      llmContent: [{ type: 'text', text: 'for the model' }],
      displayContent: [{ type: 'text', text: 'for people' }],
    }));
    const events = await say(await open(bot(model, { tools: [look] })), 'go');
    expect(ofType(events, 'tool_response')).toMatchObject([
      { content: [{ text: 'for the model' }], display: [{ type: 'text', text: 'for people' }] },
    ]);
    const sent = JSON.stringify(
      model.requests[1]?.contents.flatMap(({ parts }) => parts.map(({ _meta, ...part }) => part)),
    );
    expect(sent).toContain('for the model');
    expect(sent).not.toContain('for people');
  });

  test('S3-70 parts come back as they went in', async () => {
    const parts: ContentPart[] = [
      { type: 'text', text: 'a \ud83d\ude00' },
      { type: 'media', mimeType: 'image/png', data: 'AAAA' },
      { type: 'media', mimeType: 'image/png', uri: 'gs://b/c' },
      { type: 'reference', text: 'file', uri: 'gs://x', mimeType: 'text/plain' },
      { type: 'thought', thought: 'hm', signature: 's', _meta: { provider: { name: 'p', opaque: 'o' } } },
      { type: 'citation', uri: 'https://x', title: 't' },
      { type: 'code', language: 'ts', code: '1' },
      { type: 'code_result', output: '1', exitCode: 0 },
      { type: 'refusal', text: 'no' },
      { type: 'x_new', stars: 1 } as unknown as ContentPart,
    ];
    const model = new ScriptedModel([{ parts }]);
    const session = await open(bot(model));
    const events = await say(session, { kind: 'message', content: parts });
    expect(ofType(events, 'message').map(({ content }) => content)).toEqual([parts, parts]);
    expect(model.requests[0]?.contents).toEqual([{ role: 'user', parts }]);
    expect(ofType(await stored(session), 'message').map(({ content }) => content)).toEqual([parts, parts]);
  });

  test('S3-70 function parts in a message are refused: answers go by request id', async () => {
    const session = await open(bot(['never']));
    const call = { type: 'function_call', id: 'x', name: 'f', args: {} } as const;
    await expect(session.stream({ kind: 'message', content: [call] }).next()).rejects.toMatchObject({
      code: 'E_BAD_INPUT',
    });
    expect(await stored(session)).toEqual([]);
  });

  test('S3-27 a confirmation is an elicitation: hint is its message, payload its context', async () => {
    const pay = tool('pay', (_, context) => {
      context.requestConfirmation({ hint: 'Really?', payload: { eur: 5 } });
      return undefined;
    });
    const session = await open(bot([{ calls: [['pay']] }], { tools: [pay] }));
    const events = await say(session, 'go');
    const [ask] = ofType(events, 'elicitation_request');
    expect(ask).toMatchObject({ kind: 'tool_confirmation', message: 'Really?', context: { payload: { eur: 5 } } });
    expect(ask?.seq).toBeGreaterThan(0);
    expect((await only(session)).requestId).toBe(ask?.requestId);
    expect(endOf(events)).toMatchObject({
      reason: 'input_required',
      data: { pending: [{ requestId: ask?.requestId }] },
    });
  });

  test('F29 the output key keeps its value until there are final words', async () => {
    const raw = ownTool('raw', (_, context) => {
      context.skipSummarization();
      return 'x';
    });
    const sessions = new InMemorySessionService();
    const model = new ScriptedModel([
      { text: 'I will look', calls: [['raw']] },
      { thought: 'only a thought' },
      { thought: 'hm', text: 'new' },
    ]);
    const source = fromAgent(bot(model, { tools: [raw], outputKey: 'k' }), { store: sessions });
    const session = await source.open({ state: { k: 'old' } }, context);
    const k = async () => (await sessions.get({ ...context, id: session.id }))?.state.k;
    await say(session, 'one');
    expect(await k()).toBe('old');
    await say(session, 'two');
    expect(await k()).toBe('old');
    const events = await say(session, 'three', { streaming: true });
    expect(await k()).toBe('new');
    expect(ofType(events, 'session_update')).toMatchObject([{ stateDelta: { k: 'new' } }]);
  });

  test('S3-42 a sequence’s stream ends once, after its last child', async () => {
    const one = (name: string) => new LlmAgent({ name, model: new ScriptedModel([name]) });
    const events = await say(await open(new SequentialAgent({ name: 'seq', subAgents: [one('a'), one('b')] })), 'go');
    expect(ofType(events, 'stream_end')).toHaveLength(1);
    expect(brief(events).filter((line) => line.startsWith('agent: '))).toEqual(['agent: a', 'agent: b']);
  });
});

function text(words: string) {
  return { role: 'model' as const, parts: [{ type: 'text' as const, text: words }] };
}

test('ATT-B6 an event of many things is shown in pieces as it is shown at once', () => {
  const calls = Array.from(
    { length: 600 },
    (_, k): ContentPart => ({ type: 'function_call', id: `c${k}`, name: 't', args: { k } }),
  );
  const responses = calls.map(
    (_, k): ContentPart => ({ type: 'function_response', id: `c${k}`, name: 't', response: { k } }),
  );
  const asks = Array.from({ length: 300 }, (_, k) => ({
    requestId: `c${k}#1`,
    callId: `c${k}`,
    kind: 'input',
    message: 'm',
  }));
  const decisions = Object.fromEntries(calls.map((_, k) => [`c${k}`, { outcome: 'approved' as const, by: 'policy' }]));
  const big = createEvent({
    author: 'bot',
    streamId: 's',
    content: { role: 'model', parts: [{ type: 'text', text: 'so' }, ...calls, ...responses] },
    usage: { inputTokens: 1 },
    actions: { asks: asks as never, decisions, started: ['c0', 'c1'], stateDelta: { a: 1 } },
  });
  const shown = project('s', { ...big, seq: 7 });
  expect(shown.length).toBeGreaterThan(2000);
  expect([...projectInPieces('s', { ...big, seq: 7 })]).toEqual(shown);
});

test.each<[string, Partial<EventInit>]>([
  ['nothing', {}],
  ['words', { content: text('so') }],
  ['words beside a turn', { content: text('so'), author: 'user', actions: { steer: true } }],
  ['the end of an agent', { actions: { completed: [{ path: 'a', agent: 'a', outcome: { kind: 'done' } }] as never } }],
  ['the beginning of one', { actions: { began: [{ path: 'a', agent: 'a', iteration: 2 }] } }],
  ['a mode', { actions: { config: { permissionMode: 'plan' } } }],
  ['state', { actions: { stateDelta: { a: 1 } } }],
  ['a start', { actions: { started: ['c'], decisions: { c: { outcome: 'approve', by: 'policy' } } as never } }],
  ['first words of a call', { actions: { interim: { c: { output: 'wait' } } } }],
  ['a question', { actions: { asks: [{ requestId: 'q', callId: 'c', kind: 'input', message: 'm' }] as never } }],
  ['an answer', { actions: { answers: { q: { action: 'accept', by: 'u' } } } }],
  ['what it cost', { usage: { inputTokens: 1 }, model: 'm' }],
  ['a file', { actions: { artifactDelta: { 'a.txt': 1 } } }],
  ['a rewind', { actions: { rewound: { through: 1 } } }],
  ['facts of an executor', { customMetadata: { own: 1 } }],
  ['a failure', { errorCode: 'E_MODEL', errorMessage: 'm' }],
])('an event that says %s is shown at once as it is in pieces', (what, init) => {
  const event = { ...createEvent({ id: 'e', author: 'bot', streamId: 's', timestamp: 0, ...init }), seq: 7 };
  const shown = project('s', event);
  expect(shown).toEqual([...projectInPieces('s', event)]);
  expect(shown.length > 0).toBe(what !== 'nothing');
});
