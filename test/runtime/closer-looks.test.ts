import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService, settlementOf } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Folding } from './folding.ts';
import { bench, collect, endOf, errorOf, host, key, llm, said, tool } from './kit.ts';

test('a question behind one that was answered is not answered by that', () => {
  const f = new Folding();
  f.call(['c1']);
  const ask = (requestId: string) => ({ requestId, callId: 'c1', kind: 'tool_confirmation' as const, message: '?' });
  f.act({ asks: [ask('c1#0')] });
  f.act({ answers: { 'c1#0': { action: 'accept' } } });
  f.act({ asks: [ask('c1#1')] });
  expect(settlementOf(f.fold, 'c1#1')).toBeUndefined();
  f.act({ answers: { 'c1#1': { action: 'decline' } } });
  expect(settlementOf(f.fold, 'c1#1')?.outcome).toBe('decline');
  expect(settlementOf(f.fold, 'c1#0')?.outcome).toBe('accept');
});

test('a call that is answered elsewhere while its start is stored does not run', async () => {
  const isStart = (events: readonly StoredEvent[], index: number) =>
    events.some(({ actions }) => (actions.started?.length ?? 0) > index);
  const ran: string[] = [];
  const sessions = new InMemorySessionService();
  const append = sessions.append.bind(sessions);
  let second = '';
  let starts = 0;
  sessions.append = async (of, events, options) => {
    for (const { content } of events)
      for (const part of content?.parts ?? [])
        if (part.type === 'function_call' && part.name === 'two') second = part.id;
    if (isStart(events, 0) && ++starts === 2) {
      const part = { type: 'function_response' as const, id: second, name: 'two', response: { content: 'theirs' } };
      await append(of, [createEvent({ id: `res:${second}`, author: 'bot', content: { role: 'user', parts: [part] } })]);
    }
    return append(of, events, options);
  };
  const tools = ['one', 'two'].map((name) =>
    tool(name, () => {
      ran.push(name);
      return name;
    }),
  );
  const agent = llm('bot', new ScriptedModel([{ calls: [['one'], ['two']] }, 'done']), { tools });
  const session = await fromAgent(agent, { store: sessions, toolConcurrency: 1 }).open(
    { sessionId: key.id, create: true },
    host,
  );
  await collect(session.stream('go'));
  expect(ran).toEqual(['one']);
  const log = (await sessions.get({ ...key, userId: host.userId ?? 'local' }))?.events ?? [];
  expect(said(log).filter((line) => line.includes('two ='))).toEqual(['bot: two = {"content":"theirs"}']);
});

test('an answer without content is one that says nothing', async () => {
  const model = {
    name: 'silent',
    async *generate() {
      yield { finishReason: 'stop' };
    },
  };
  const events = await bench(llm('bot', model)).say('hi');
  expect([endOf(events), said(events)]).toEqual(['completed', ['user: hi']]);
});

test('a hook that changes what an event does leaves its state alone, unless it gives another', async () => {
  const editing = (actions: object) =>
    bench(llm('bot', new ScriptedModel(['hello']), { outputKey: 'out' }), {
      plugins: [
        {
          name: 'edits',
          onEvent: (_, event) => (event.content?.role === 'model' ? ({ ...event, actions } as StoredEvent) : undefined),
        },
      ],
    });
  const kept = editing({ skipSummarization: true });
  expect(endOf(await kept.say('hi'))).toBe('completed');
  expect(await kept.state()).toEqual({ out: 'hello' });
  const other = editing({ stateDelta: { mine: 1, 'temp:x': 2 } });
  await other.say('hi');
  expect(await other.state()).toEqual({ mine: 1 });
  for (const stateDelta of ['text', 5, null, []])
    expect(errorOf(await editing({ stateDelta }).say('hi'))?.message).toContain('its actions.stateDelta is no object');
});
