import { describe, expect, test } from 'vitest';
import { OpenAIChatCompletionsAdapter } from '../../../src/adapters/batteries/index.ts';
import type { AgentEvent, AgentSession } from '../../../src/contracts/index.ts';
import { dispatchAgent } from '../../../src/dispatch/index.ts';
import { allowAll, createHost, defineTool, LlmAgent, run, SequentialAgent } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { FakeProvider } from './server.ts';

const look = defineTool({ name: 'look', description: 'looks', inputSchema: { type: 'object' }, execute: () => 'seen' });
const open = (agent: Parameters<typeof createHost>[0]['agents'][number]): Promise<AgentSession> =>
  createHost({ app: 'shop', agents: [agent], tools: [look], policy: allowAll() }).open('bot');

async function said(session: AgentSession): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of session.events({})) events.push(event);
  return events;
}
const messages = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'message' && event.role === 'agent' ? [event.truncated ?? false] : []));
const ends = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'stream_end' ? [[event.reason, event.data.truncated ?? false]] : []));

describe.each(providers)('IOP-M1 an answer that was cut says so, from $title', (under) => {
  test.each([true, false])('streamed: %s', async (streaming) => {
    const { stream, json } = under.answer({ text: 'Once upon a', finish: 'length' });
    await using fake = await FakeProvider.start(() => ({ body: streaming ? stream : json }));
    const session = await open(new LlmAgent({ name: 'bot', model: under.model(fake.url) }));
    const shown: AgentEvent[] = [];
    const result = await run(session, 'tell', { streaming, onEvent: (event) => shown.push(event) });
    expect(result).toMatchObject({ reason: 'completed', text: 'Once upon a', truncated: true });
    expect(messages(shown.filter((event) => !('partial' in event && event.partial)))).toEqual([true]);
    expect(ends(shown)).toEqual([['completed', true]]);
    expect([messages(await said(session)), ends(await said(session))]).toEqual([[true], [['completed', true]]]);
  });
});

describe('IOP-M1 it is the last answer that counts', () => {
  test('one that goes on after its calls were told to be cut is whole', async () => {
    const model = new ScriptedModel([{ text: 'I', calls: [['look']], finishReason: 'length' }, 'all of it']);
    const session = await open(new LlmAgent({ name: 'bot', model }));
    expect(await run(session, 'go')).not.toHaveProperty('truncated');
    expect([messages(await said(session)), ends(await said(session))]).toEqual([[true, false], [['completed', false]]]);
  });

  test('of the last agent of a sequence, and of that turn', async () => {
    const half = { text: 'half', finishReason: 'max_tokens' };
    const model = new ScriptedModel({ byAgent: { one: [half, 'whole'], two: ['whole', half] } });
    const subAgents = ['one', 'two'].map((name) => new LlmAgent({ name, model }));
    const session = await open(new SequentialAgent({ name: 'bot', subAgents }));
    expect(await run(session, 'go')).not.toHaveProperty('truncated');
    expect(await run(session, 'again')).toMatchObject({ reason: 'completed', truncated: true });
  });

  test.each(['length', 'stop'])('of an executor that reports %s', async (finish) => {
    const chunk = { choices: [{ index: 0, delta: { content: 'half' }, finish_reason: finish }] };
    const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
    await using fake = await FakeProvider.start(() => ({ body }));
    const chat = new OpenAIChatCompletionsAdapter({ model: 'm', baseUrl: `${fake.url}/v1`, autoAck: true });
    const result = await run(await open(dispatchAgent({ name: 'bot', executor: chat.executor() })), 'hi');
    expect([result.text, result.truncated ?? false]).toEqual(['half', finish === 'length']);
  });
});
