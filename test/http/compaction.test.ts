import type { BaseEvent } from '@ag-ui/client';
import { HttpAgent, verifyEvents } from '@ag-ui/client';
import { expect, test, vi } from 'vitest';
import { Screen } from '../../src/cli/terminal/index.ts';
import { TextView } from '../../src/cli/view/index.ts';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { EventReader, fronting, get, post, readUntil } from './kit.ts';

const S = '/v1/agents/bot/sessions/s';
const words = 'All about cheese. '.repeat(120);
const isCompaction = (event: AgentEvent) => event.type === 'custom' && event.kind === 'compacted';

/** Two long answers are in its history; the third turn begins with a summary. */
async function talked() {
  const answers = [
    { text: words, usage: { inputTokens: 500, outputTokens: 500 } },
    { text: words, usage: { inputTokens: 1500, outputTokens: 500 } },
    'Cheese was explained.',
    'You are welcome.',
  ];
  const { host } = hostOf(bot(answers, { compaction: { window: 2000, keep: 1 } }));
  const front = await fronting(host);
  await post(front, '/v1/agents/bot/sessions', { sessionId: 's', create: true });
  for (const input of ['Explain.', 'Again.']) {
    const turn = await EventReader.open(`${front.url}${S}/messages`, { body: { input } });
    await readUntil(turn, () => false);
  }
  return front;
}

test('CMP-23 by hand over HTTP: a client that follows the session by an event stream sees the event, and it stands in the log', async () => {
  const front = await talked();
  const follows = await EventReader.open(`${front.url}${S}/events?history=false`);
  const { status, body } = await post(front, `${S}/compact`);
  expect([status, body]).toMatchObject([200, { compacted: true, tokensBefore: expect.any(Number) }]);
  expect((await readUntil(follows, isCompaction)).at(-1)).toMatchObject({
    data: { by: 'model', summary: 'Cheese was explained.' },
  });
  const { events } = (await get(front, `${S}/events`)).body as { events: AgentEvent[] };
  expect(events.filter(isCompaction)).toHaveLength(1);
});

test('CMP-24 within a turn: clients of AG-UI are sent it, by the rules of that protocol', async () => {
  const front = await talked();
  const agent = new HttpAgent({
    url: `${front.url}/v1/agents/bot/ag-ui`,
    headers: { authorization: 'Bearer anna' },
    threadId: 's',
  });
  const input = { threadId: 's', runId: 'r3', messages: [{ id: 'm3', role: 'user' as const, content: 'Thanks.' }] };
  const events: BaseEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const complete = () => resolve();
    const run = verifyEvents()(agent.run({ ...input, tools: [], context: [] }));
    run.subscribe({ next: (event) => events.push(event), error: reject, complete });
  });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'CUSTOM',
      name: 'coxswain.compacted',
      value: expect.objectContaining({ summary: 'Cheese was explained.' }),
    }),
  );
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
});

test('CMP-25 within a turn: a chat page of the AI SDK is sent it, and keeps nothing of it', async () => {
  const front = await talked();
  const message = { id: 'm3', role: 'user', parts: [{ type: 'text', text: 'Thanks.' }] };
  const chat = await EventReader.open(`${front.url}/v1/agents/bot/chat`, { body: { id: 's', messages: [message] } });
  const chunks = (await chat.all()).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as object]));
  expect(chunks).toContainEqual({
    type: 'data-compacted',
    transient: true,
    data: expect.objectContaining({ by: 'model', summary: 'Cheese was explained.' }),
  });
  const { messages } = (await get(front, '/v1/agents/bot/chat/s')).body as { messages: object[] };
  expect(messages).toHaveLength(6);
  expect(JSON.stringify(messages)).not.toContain('compacted');
});

test('CMP-26 in the terminal a summary is a line, and what became a reference is none', async () => {
  let shown = '';
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      shown += String(chunk);
      return true;
    }),
  );
  const base = { id: 'e', timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 'st', type: 'custom' };
  const event = (data: object) => ({ ...base, kind: 'compacted', data }) as AgentEvent;
  try {
    const view = new TextView(new Screen());
    view.event(event({ by: 'clear', cleared: { c: 0 }, tokensBefore: 9000, tokensAfter: 800 }));
    view.event(event({ by: 'model', summary: 's', tokensBefore: 2000, tokensAfter: 300 }));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(shown).toBe('older messages were summed up: about 300 tokens instead of 2000\n');
});
