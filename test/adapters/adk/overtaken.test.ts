import { expect, test } from 'vitest';
import type { AgentEvent, ToolContract } from '../../../src/contracts/index.ts';
import { fromAgent, InMemorySessionService } from '../../../src/index.ts';
import type { StoredEvent } from '../../../src/runtime/index.ts';
import { createEvent } from '../../../src/runtime/index.ts';
import { all, bot, door, endOf, follow, hostOf, ofType, policyOf, refusal, slowTool, tool } from '../../host/kit.ts';

/** A store in which the first append that `holds` waits on its way until it is let go: others overtake it. */
class SlowRoad extends InMemorySessionService {
  holds: (event: StoredEvent) => boolean = () => false;
  holdsLease = false;
  readonly waiting = door();
  readonly go = door();

  override async append(...args: Parameters<InMemorySessionService['append']>) {
    if (args[1].some((event) => this.holds(event))) {
      this.holds = () => false;
      this.waiting.open();
      await this.go.opened;
    }
    return super.append(...args);
  }

  override async acquire(...args: Parameters<InMemorySessionService['acquire']>) {
    if (this.holdsLease) {
      this.holdsLease = false;
      this.waiting.open();
      await this.go.opened;
    }
    return super.acquire(...args);
  }
}

const pay: ToolContract = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'paid',
};

const options = {
  hostToolExecution: true,
  tools: [{ name: 'buy', description: 'Buys.', inputSchema: { type: 'object' } }],
};

async function paused(name: 'pay' | 'buy') {
  const sessions = new SlowRoad();
  const agent = bot([{ calls: [[name, {}]] }, 'done'], name === 'pay' ? { tools: [pay] } : {});
  const open = () => fromAgent(agent, { store: sessions }).open({ sessionId: 's', create: true }, { app: 'shop' });
  const session = await open();
  const events = await all(session.stream('go', name === 'pay' ? {} : options));
  const requestId = endOf(events).data.pending?.[0]?.requestId ?? '';
  return { sessions, session, open, requestId };
}

/** Every response and every answer in the log, in order. */
const answers = (events: readonly AgentEvent[]) =>
  events.flatMap(({ type }) => (type === 'tool_response' || type === 'elicitation_response' ? [type] : []));

test('MUT-R4 a result of a call that was answered elsewhere while it ran is dropped, and that is told', async () => {
  const sessions = new InMemorySessionService();
  const warnings: string[] = [];
  const work = slowTool('work');
  const source = fromAgent(bot([{ calls: [['work', {}]] }, 'done'], { tools: [work.tool] }), {
    store: sessions,
    warn: (message) => warnings.push(message),
  });
  const session = await source.open({ sessionId: 's', create: true }, { app: 'shop' });
  const running = follow(session, 'go');
  const { callId } = await work.started;
  const call = await running.seen('tool_request');
  const other: Partial<StoredEvent> = { turnId: call.turnId ?? '', author: 'bot' };
  const part = { type: 'function_response' as const, id: callId, name: 'work', response: { content: 'theirs' } };
  const answer = createEvent({
    ...other,
    id: `res:${callId}`,
    author: 'bot',
    content: { role: 'user', parts: [part] },
  });
  await sessions.append({ app: 'shop', userId: 'local', id: 's' }, [answer]);
  work.finish('ours');
  const responses = ofType(await running.ended, 'tool_response').map(({ content }) => content);
  expect(responses).toEqual([[{ type: 'text', text: 'theirs' }]]);
  expect(warnings).toEqual([`call ${callId} was answered elsewhere while it ran; its result is dropped`]);
});

test('F23 an answer that is overtaken by the end of its call is refused, and not in the log', async () => {
  const { sessions, session, requestId } = await paused('pay');
  sessions.holds = ({ actions }) => actions.answers?.[requestId] !== undefined;
  const answering = refusal(session.respond(requestId, { kind: 'elicitation', action: 'accept' }));
  await sessions.waiting.opened;
  await session.abort();
  sessions.go.open();
  expect((await answering).code).toBe('E_REQUEST_CLOSED');
  expect(answers(await all(session.events()))).toEqual(['tool_response']);
});

test('F23 an answer that another event overtakes is stored all the same', async () => {
  const { sessions, session, requestId } = await paused('pay');
  sessions.holds = ({ actions }) => actions.answers?.[requestId] !== undefined;
  const answering = session.respond(requestId, { kind: 'elicitation', action: 'accept' });
  await sessions.waiting.opened;
  const title = createEvent({ turnId: '', author: 'user', actions: { config: { title: 'paid' } } });
  await sessions.append({ app: 'shop', userId: 'local', id: 's' }, [title]);
  sessions.go.open();
  expect(await answering).toEqual({ status: 'settled' });
  expect(answers(await all(session.events()))).toEqual(['elicitation_response']);
});

test('F23 S3-63 an answer among a stream’s inputs that somebody else is faster with is refused before the stream begins', async () => {
  const { sessions, session, requestId } = await paused('buy');
  sessions.holds = ({ id }) => id === `res:${requestId}`;
  const stream = session.stream({ kind: 'tool_result', requestId, result: { content: [] } }, options);
  const first = refusal(stream.next());
  await sessions.waiting.opened;
  await session.respond(requestId, { kind: 'deny' });
  sessions.go.open();
  expect((await first).code).toBe('E_REQUEST_CLOSED');
  expect(answers(await all(session.events()))).toEqual(['tool_response']);
});

test('F23 S3-63 a message that would close a call begins its turn also where the call is answered in that moment', async () => {
  const { sessions, session, requestId } = await paused('buy');
  sessions.holds = ({ id }) => id === `res:${requestId}`;
  const shown = all(session.stream('never mind', options));
  await sessions.waiting.opened;
  await session.respond(requestId, { kind: 'result', result: { content: [{ type: 'text', text: 'bought' }] } });
  sessions.go.open();
  expect(endOf(await shown).reason).toBe('completed');
  const log = await all(session.events());
  expect(ofType(log, 'tool_response')).toMatchObject([{ content: [{ text: 'bought' }] }]);
  expect(ofType(log, 'message').filter(({ role }) => role === 'user')).toHaveLength(2);
});

test('S3-14 F35 an abort while nothing runs ends the rest, also where one call is answered in that moment', async () => {
  const { sessions, session, requestId } = await paused('buy');
  sessions.holds = ({ id }) => id === `res:${requestId}`;
  const aborting = session.abort();
  await sessions.waiting.opened;
  await session.respond(requestId, { kind: 'deny' });
  sessions.go.open();
  await aborting;
  expect(await session.pending()).toEqual([]);
  const log = await all(session.events());
  expect([...answers(log), endOf(log).reason]).toEqual(['tool_response', 'aborted']);
});

test('S3-14 F35 a stream that begins while an abort waits for the session finds what that has ended', async () => {
  const { sessions, session, requestId } = await paused('buy');
  sessions.holdsLease = true;
  const aborting = session.abort();
  await sessions.waiting.opened;
  const stream = session.stream({ kind: 'tool_result', requestId, result: { content: [] } }, options);
  const first = refusal(stream.next());
  await session.pending();
  sessions.go.open();
  await aborting;
  expect((await first).code).toBe('E_REQUEST_CLOSED');
  expect(await session.pending()).toEqual([]);
  expect(endOf(await all(session.stream('again', options))).reason).toBe('completed');
});

test('S3-14 F35 a stream that begins while an abort ends what is open waits for that', async () => {
  const { sessions, session, requestId } = await paused('buy');
  sessions.holds = ({ id }) => id === `res:${requestId}`;
  const aborting = session.abort();
  await sessions.waiting.opened;
  const shown = all(session.stream('go on', options));
  await session.pending();
  sessions.go.open();
  await aborting;
  expect(endOf(await shown).reason).toBe('completed');
});

test('F35 words that the end of their turn overtakes are of the next turn, and of no stream', async () => {
  const sessions = new SlowRoad();
  const asked = door();
  const agent = bot([() => new Promise(() => asked.open())]);
  const session = await fromAgent(agent, { store: sessions }).open({}, { app: 'shop' });
  const stream = session.stream('go');
  const shown = all(stream);
  await asked.opened;
  sessions.holds = ({ actions }) => actions.steer === true;
  const steering = session.steer({ content: 'hurry' });
  await sessions.waiting.opened;
  await session.abort();
  sessions.go.open();
  expect(await steering).toMatchObject({ disposition: 'next_turn' });
  const ids = new Set((await shown).map(({ id }) => id));
  const stored = await all(session.events());
  expect(stored.filter((event) => event.streamId === stream.streamId && !ids.has(event.id))).toEqual([]);
});

/** A store whose every look takes some turns of the event loop. */
class Far extends InMemorySessionService {
  turns = 0;

  override async get(...args: Parameters<InMemorySessionService['get']>) {
    for (let turn = 0; turn < this.turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    return super.get(...args);
  }
}

test('S3-59 a question whose answer is refused while the run pauses is shown before the stream ends', async () => {
  for (let wait = 0; wait < 12; wait++) {
    const store = new Far();
    const sell = tool('sell', () => 'sold', { inputSchema: { type: 'object', required: ['k'] } });
    const { host } = hostOf(bot([{ calls: [['sell', { k: 1 }]] }, 'done'], { tools: [sell] }), {
      store,
      policy: policyOf({ sell: 'ask' }),
    });
    const session = await host.open('bot');
    store.turns = 2;
    const running = follow(session, 'go');
    const { requestId } = await running.seen('tool_request');
    for (let turn = 0; turn < wait; turn++) await new Promise((resolve) => setImmediate(resolve));
    const answering = refusal(session.respond(`${requestId}#policy`, { kind: 'approve', args: {} }));
    const events = await running.ended;
    expect(ofType(events, 'elicitation_request').map((event) => event.requestId)).toEqual([`${requestId}#policy`]);
    expect(['E_WRONG_ANSWER', 'E_UNKNOWN_REQUEST']).toContain((await answering).code);
  }
});
