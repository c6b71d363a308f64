import { describe, expect, test } from 'vitest';
import { modelRegistry } from '../../../src/adapters/models/index.ts';
import { openSqlite } from '../../../src/adapters/stores/sql/open-sqlite.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import type { ModelUnderTest } from '../../suites/model.ts';
import { anthropic, gemini, openaiChat, openaiResponses } from './providers.ts';
import { FakeProvider } from './server.ts';

const calls = [
  { id: 'toolu:1', name: 'look_up', args: { what: 'a' } },
  { id: 'toolu:2', name: 'look_up', args: { what: 'b' } },
];
const lookUp = {
  name: 'look_up',
  description: 'looks up',
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  annotations: { readOnly: true },
  execute: ({ what }: { what: string }) => `found ${what}`,
};

/** Answers with two calls, then with words; refuses what the real server would refuse. */
function server(under: ModelUnderTest): Promise<FakeProvider> {
  return FakeProvider.start((request) => {
    try {
      under.read(request.body);
    } catch (error) {
      return under.error(400, String(error));
    }
    const { turns } = under.read(request.body);
    const isAnswered = (turns.at(-1)?.results.length ?? 0) > 0;
    return { body: under.answer(isAnswered ? { text: 'there' } : { thought: 'plan', text: 'Looking.', calls }).stream };
  });
}

const names: [string, ModelUnderTest][] = [
  ['claude-x', anthropic],
  ['gemini-3-x', gemini],
  ['chat/model', openaiChat],
  ['responses/gpt-5', openaiResponses],
];

describe('S0-67 S3-18 a host with models by name', () => {
  test('one session goes from provider to provider, and each accepts the whole history', async () => {
    await using stack = new AsyncDisposableStack();
    const servers: FakeProvider[] = [];
    for (const [, under] of names) servers.push(stack.use(await server(under)));
    const [claude, google, chat, responses] = servers.map(({ url }) => ({
      apiKey: 'sk-test-secret-key',
      baseUrl: url,
    }));
    const models = modelRegistry({
      anthropic: { ...claude },
      gemini: { ...google },
      providers: { chat: { api: 'openai', ...chat }, responses: { api: 'openai-responses', ...responses } },
    });
    const sessions = openSqlite(':memory:');
    const host = createHost({
      app: 'test',
      agents: [new LlmAgent({ name: 'agent', model: 'claude-x' })],
      tools: [lookUp],
      store: sessions,
      models,
    });
    const session = await host.open('agent');
    // Its own, then every other one, then its own again.
    const asked = [undefined, ...names.slice(1).map(([name]) => name), undefined];
    for (const [turn, model] of asked.entries()) {
      const result = await run(session, `turn ${turn}`, model === undefined ? {} : { model });
      expect(result, `${model}`).toMatchObject({ reason: 'completed', text: 'Looking.\n\nthere' });
    }
    expect(servers.map(({ requests }) => requests.length)).toEqual([4, 2, 2, 2]);
    const last = anthropic.read(servers[0]?.requests.at(-1)?.body ?? {});
    expect(last.turns.flatMap((turn) => turn.calls)).toHaveLength(10);
    expect(last.turns.flatMap((turn) => turn.results)).toHaveLength(10);
    const asks = servers.map(({ requests }) => requests[0]?.body.model ?? requests[0]?.path);
    expect(asks).toEqual(['claude-x', expect.stringContaining('/models/gemini-3-x:'), 'model', 'gpt-5']);
    await host.close();
    await sessions.close();
  });

  test('a name that nobody knows ends the turn with what to do', async () => {
    const host = createHost({
      app: 'test',
      agents: [new LlmAgent({ name: 'agent', model: 'nobody/x' })],
      models: () => undefined,
    });
    const session = await host.open('agent');
    const events = [];
    for await (const event of session.stream('hi')) events.push(event);
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_NO_MODEL' });
    await host.close();
  });
});
