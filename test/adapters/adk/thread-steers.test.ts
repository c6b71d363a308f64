import { expect, test } from 'vitest';
import type { AgentEvent, AgentSession, ModelRequest } from '../../../src/index.ts';
import {
  agentTool,
  allowAll,
  fromAgent,
  InMemorySessionService,
  ParallelAgent,
  subagentTool,
} from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { all, bot, door, endOf, hostOf, ofType, say, tool } from '../../host/kit.ts';
import { SlowStore } from './slow-store.ts';

const context = { app: 'shop', userId: 'ann' };
const pay = tool('pay', () => 'paid', { needsApproval: true });

/** A tool that says when it runs, and runs until it is let go. */
function held(name: string) {
  const [running, done] = [door(), door<string>()];
  const made = tool(name, async () => {
    running.open();
    return done.opened;
  });
  return { tool: made, running: running.opened, done: () => done.open('done') };
}

/** Users' words of the newest request of an agent. */
function heard(model: ScriptedModel, agent: string): string[] {
  const request = model.requests.findLast((asked) => asked.agent === agent) as
    | Pick<ModelRequest, 'contents'>
    | undefined;
  return (request?.contents ?? []).flatMap(({ role, parts }) =>
    role === 'user' ? parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );
}

const steered = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    (event.type === 'message' && event._meta?.steer) || (event.type === 'custom' && event.kind === 'steer_applied')
      ? [`${event.type} ${event.threadId}`]
      : [],
  );

test('words for a thread reach whoever is shown there, and nobody else, whoever comes to a step first', async () => {
  const [slow, quick] = [held('slow'), held('quick')];
  const model = new ScriptedModel({
    byAgent: { left: [{ calls: [['slow']] }, 'left'], right: [{ calls: [['quick']] }, 'right', 'right again'] },
  });
  const pair = new ParallelAgent({
    name: 'pair',
    subAgents: [bot(model, { name: 'left', tools: [slow.tool] }), bot(model, { name: 'right', tools: [quick.tool] })],
  });
  const session = await fromAgent(pair).open({}, context);
  const events = say(session, 'go');
  await Promise.all([slow.running, quick.running]);
  expect(await session.steer({ content: 'mind the left', threadId: 'pair.left' })).toMatchObject({
    disposition: 'current_turn',
  });
  quick.done();
  slow.done();
  expect(steered(await events)).toEqual(['message pair.left', 'custom pair.left']);
  expect(heard(model, 'left')).toEqual(['go', 'mind the left']);
  expect(heard(model, 'right')).toEqual(['go']);
  expect(endOf(await events).reason).toBe('completed');
});

test('an agent run as a tool, and a branch of it, can be spoken to; words for none pass them by', async () => {
  const [x, y] = [held('x'), held('y')];
  const model = new ScriptedModel({
    byAgent: {
      bot: [{ calls: [['crew', { request: 'q' }]] }, 'done'],
      x: [{ calls: [['x']] }, 'x'],
      y: [{ calls: [['y']] }, 'y'],
    },
  });
  const crew = new ParallelAgent({
    name: 'crew',
    subAgents: [bot(model, { name: 'x', tools: [x.tool] }), bot(model, { name: 'y', tools: [y.tool] })],
  });
  const session = await fromAgent(bot(model, { tools: [agentTool(crew, { name: 'crew' })] })).open({}, context);
  const events = say(session, 'go');
  await Promise.all([x.running, y.running]);
  const call = ofType(await all(session.events()), 'tool_request')[0]?.requestId;
  await session.steer({ content: 'to y', threadId: `/${call}.crew.y` });
  await session.steer({ content: 'to all' });
  x.done();
  y.done();
  await events;
  expect(heard(model, 'x')).toEqual(['q']);
  expect(heard(model, 'y')).toEqual(['q', 'to y']);
  expect(heard(model, 'bot')).toEqual(['go', 'to all']);
  expect(steered(await events).sort()).toEqual(
    ['custom undefined', `custom /${call}.crew.y`, 'message undefined', `message /${call}.crew.y`].sort(),
  );
});

test('words for a thread of a turn that waits are there when it goes on, also in a new process', async () => {
  const sessions = new InMemorySessionService();
  const payer = (model: ScriptedModel, name: string) => bot(model, { name, tools: [pay] });
  const open = (byAgent: Record<string, Script[]>) => {
    const model = new ScriptedModel({ byAgent });
    const pair = new ParallelAgent({ name: 'pair', subAgents: [payer(model, 'left'), payer(model, 'right')] });
    return { model, source: fromAgent(pair, { store: sessions }) };
  };
  const asks: Script = { calls: [['pay']] };
  const before = open({ left: [asks], right: [asks] });
  const first = await before.source.open({ sessionId: 's', create: true }, context);
  await say(first, 'go');
  expect(await first.steer({ content: 'to the right', threadId: 'pair.right' })).toMatchObject({
    disposition: 'current_turn',
  });
  await first[Symbol.asyncDispose]();

  const after = open({ left: ['left'], right: ['right'] });
  const again = await after.source.open({ sessionId: 's' }, context);
  for (const { requestId } of await again.pending()) {
    await again.respond(requestId, { kind: 'elicitation', action: 'accept' });
  }
  expect(endOf(await all(again.stream({ kind: 'continue' }))).reason).toBe('completed');
  expect(heard(after.model, 'left')).toEqual(['go']);
  expect(heard(after.model, 'right')).toEqual(['go', 'to the right']);
});

test('words for a thread that has ended, or never was, stand before the next message, and whoever says them is told', async () => {
  const work = held('work');
  const model = new ScriptedModel({
    byAgent: { left: ['left', 'left'], right: [{ calls: [['work']] }, 'right', 'right'] },
  });
  const pair = new ParallelAgent({
    name: 'pair',
    subAgents: [bot(model, { name: 'left' }), bot(model, { name: 'right', tools: [work.tool] })],
  });
  const session: AgentSession = await fromAgent(pair).open({}, context);
  const leftIsOver = door();
  const events: AgentEvent[] = [];
  const streaming = (async () => {
    for await (const event of session.stream('go')) {
      events.push(event);
      if (event.type === 'message' && event.agentId === 'left' && !event.partial) leftIsOver.open();
    }
  })();
  await Promise.all([leftIsOver.opened, work.running]);
  const late = { disposition: 'next_turn' };
  expect(await session.steer({ content: 'too late', threadId: 'pair.left' })).toMatchObject(late);
  expect(await session.steer({ content: 'to nobody', threadId: 'pair.middle' })).toMatchObject(late);
  work.done();
  await streaming;
  expect(endOf(events).reason).toBe('completed');
  expect(heard(model, 'right')).toEqual(['go']);
  await all(session.stream('and now'));
  expect(heard(model, 'right').slice(-3)).toEqual(['too late', 'to nobody', 'and now']);
});

test('S3-56 under a host words for a thread of a sub-agent are the sub-agent’s', async () => {
  const work = held('work');
  const model = new ScriptedModel({
    byAgent: { bot: [{ calls: [['crew', { request: 'q' }]] }, 'done'], x: [{ calls: [['work']] }, 'x'], y: ['y'] },
  });
  const crew = new ParallelAgent({ name: 'crew', subAgents: [bot(model, { name: 'x' }), bot(model, { name: 'y' })] });
  const { host } = hostOf(bot(model), { tools: [work.tool, subagentTool(fromAgent(crew))], policy: allowAll() });
  const session = await host.open('bot');
  const events = say(session, 'go');
  await work.running;
  const call = ofType(await all(session.events()), 'tool_request')[0]?.requestId;
  expect(await session.steer({ content: 'to x', threadId: `/${call}.crew.x` })).toMatchObject({
    disposition: 'current_turn',
  });
  work.done();
  expect(steered(await events)).toEqual([`message /${call}.crew.x`, `custom /${call}.crew.x`]);
  expect(heard(model, 'x')).toEqual(['q', 'to x']);
  expect(heard(model, 'bot')).toEqual(['go']);
  await host.close();
});

test('of branches that come to a step in the same moment one hears what is for all, once', async () => {
  const work = held('work');
  const names = ['a', 'b', 'c'];
  const model = new ScriptedModel({
    byAgent: Object.fromEntries(names.map((name) => [name, [{ calls: [['work']] }, name]])),
  });
  const team = new ParallelAgent({
    name: 'team',
    subAgents: names.map((name) => bot(model, { name, tools: [work.tool] })),
  });
  const session = await fromAgent(team, { store: new SlowStore() }).open({}, context);
  const events = say(session, 'go');
  await work.running;
  await session.steer({ content: 'one of you' });
  work.done();
  expect(steered(await events).filter((line) => line.startsWith('custom'))).toHaveLength(1);
  expect(names.filter((name) => heard(model, name).includes('one of you'))).toHaveLength(1);
});
