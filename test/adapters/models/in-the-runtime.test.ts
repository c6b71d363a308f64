import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../../src/adapters/adk/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { defineTool } from '../../../src/contracts/index.ts';
import { InMemorySessionService, LlmAgent } from '../../../src/runtime/index.ts';
import type { ModelUnderTest, Said } from '../../suites/model.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { gemini } from './providers.ts';
import { FakeProvider } from './server.ts';

/** A turn with a provider that gives these answers in order; its events, and the requests that it got. */
async function turn(under: ModelUnderTest, answers: readonly Said[], input = 'go') {
  const ran: unknown[] = [];
  const save = defineTool({
    name: 'files.save',
    description: 'saves',
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } } },
    execute: (args) => {
      ran.push(args);
      return [1, 2];
    },
  });
  await using fake = await FakeProvider.start((request, count) => {
    const { tools } = under.read(request.body);
    const said = answers[count - 1] ?? { text: 'no more' };
    const calls = said.calls?.map((call) => ({ ...call, name: tools[0] ?? '' }));
    return { body: under.answer({ ...said, ...(calls ? { calls } : {}) }).stream };
  });
  const agent = new LlmAgent({ name: 'agent', model: under.model(fake.url), tools: [save] });
  const source = fromAgent(agent, { store: new InMemorySessionService() });
  const session = await source.open({}, { app: 'test' });
  const events: AgentEvent[] = [];
  for await (const event of session.stream(input)) events.push(event);
  return { events, ran, requests: fake.requests };
}

const ofType = <T extends AgentEvent['type']>(events: AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);

describe.each(providers)('an agent on $title', (under) => {
  test('F11 runs tools under their own names, and goes on with their results', async () => {
    const calls = ['a', 'b'].map((path) => ({ id: path, name: '', args: { path } }));
    const { events, ran, requests } = await turn(under, [{ thought: 'Hm', calls }, { text: 'saved' }]);
    expect(ran).toEqual([{ path: 'a' }, { path: 'b' }]);
    expect(ofType(events, 'tool_request').map(({ name }) => name)).toEqual(['files.save', 'files.save']);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    const { tools, turns } = under.read(requests[1]?.body ?? {});
    expect(tools).toEqual([expect.stringMatching(/^files_save_[0-9a-f]{10}$/)]);
    expect(turns.flatMap((each) => each.results)).toHaveLength(2);
  });

  test('F6 an empty end after a tool is an end: nothing runs again', async () => {
    const { events, ran, requests } = await turn(under, [{ calls: [{ id: 'a', name: '', args: {} }] }, { text: '' }]);
    expect(ran).toHaveLength(1);
    expect(requests).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(ofType(events, 'error')).toEqual([]);
  });

  test('F8 nothing of an answer that was cut runs, and the model hears of it', async () => {
    const calls = [{ id: 'a', name: '', args: { path: 'a' } }];
    const { ran, requests } = await turn(under, [{ calls, finish: 'length' }, { text: 'sorry' }]);
    expect(ran).toEqual([]);
    expect(JSON.stringify(under.read(requests[1]?.body ?? {}).turns)).toContain('cut at the output limit');
  });

  test('S3-71 a refusal ends the stream as one', async () => {
    const { events } = await turn(under, [{ refusal: 'no' }]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'refusal' });
  });
});

test('F2 a signature survives the log', async () => {
  const { requests } = await turn(gemini, [{ calls: [{ id: '', name: '', args: { path: 'a' } }] }, { text: 'ok' }]);
  expect(gemini.proof.of(requests[1]?.body ?? {})).toMatchObject([{ thoughtSignature: 'c2lnK/8=' }]);
});
