import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelOptions } from '../../src/adapters/models/index.ts';
import { anthropicModel, geminiModel, openaiChatModel, openaiResponsesModel } from '../../src/adapters/models/index.ts';
import type { ConformanceTarget, ModelTurn } from '../../src/conformance/index.ts';
import { conformanceTests, DECOY_KEY, ModelServer, targetOfSource } from '../../src/conformance/index.ts';
import { fromAgent, LlmAgent, run } from '../../src/index.ts';
import type { Model } from '../../src/runtime/index.ts';
import { askUser } from './targets.ts';

/** What a dialect can make or break. The first one is judged by all requirements. */
const overTheWire = /TURN|TOOL|GRAM-0[1347]|GRAM-1|ABORT-0[145]|ERR|ELIC-01|STEER|MODEL/;

const dialects: { name: string; isWhole?: boolean; model: (url: string, more?: ModelOptions) => Model }[] = [
  {
    name: 'OpenAI Chat Completions',
    isWhole: true,
    model: (url, more) =>
      openaiChatModel('cx', { ...more, baseUrl: `${url}/v1`, apiKey: DECOY_KEY, provider: 'openai' }),
  },
  {
    name: 'OpenAI Responses',
    model: (url, more) =>
      openaiResponsesModel('cx', { ...more, baseUrl: `${url}/v1`, apiKey: DECOY_KEY, provider: 'openai-responses' }),
  },
  {
    name: 'Anthropic Messages',
    model: (url, more) => anthropicModel('cx', { ...more, baseUrl: url, apiKey: DECOY_KEY, provider: 'anthropic' }),
  },
  {
    name: 'Gemini',
    model: (url, more) => geminiModel('cx', { ...more, baseUrl: url, apiKey: DECOY_KEY, provider: 'gemini' }),
  },
];

// The whole way: agent, adapter, the provider's own client, HTTP, and the kit's model at its end.
describe.each(dialects)('the runtime over $name keeps the contract', ({ model, isWhole }) => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await ModelServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const source = () => fromAgent(new LlmAgent({ name: 'bot', model: model(server.url), tools: [askUser] }));
  const target: ConformanceTarget = {
    name: 'runtime over HTTP',
    start: (how) => targetOfSource('', source, server).start(how),
  };
  const tests = conformanceTests(target).filter(({ id }) => isWhole || overTheWire.test(id));
  for (const { id, title, run: judged } of tests) test(`${id} ${title}`, judged);
});

async function saying(model: (url: string, more?: ModelOptions) => Model, ...script: ModelTurn[]) {
  const server = await ModelServer.start({ script });
  const agent = new LlmAgent({ name: 'bot', model: model(server.url, { retry: { retries: 0 } }) });
  const session = await fromAgent(agent).open({}, { app: 'kit' });
  return {
    server,
    say: (text: string) => run(session, text),
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each(dialects)('faults of $name', ({ model }) => {
  test.each<[string, ModelTurn]>([
    ['a connection that is cut', { text: 'one two three four five six', fault: { cutAfterBytes: 200 } }],
    ['an error in mid-stream', { text: 'one two three four', fault: { midStream: true } }],
    ['too many requests', { fault: { status: 429, headers: { 'retry-after': '1' } } }],
    ['a server that fails', { fault: { status: 500 } }],
  ])('%s: the turn fails, the next one does not, and no key is told', async (_, fault) => {
    await using bot = await saying(model, fault, { text: 'back again' });
    const failed = await bot.say('hello');
    expect(failed.reason).toBe('failed');
    expect(JSON.stringify(failed)).not.toContain(DECOY_KEY);
    expect(await bot.say('hello again')).toMatchObject({ reason: 'completed', text: 'back again' });
    expect(bot.server.remaining).toBe(0);
  });

  test('arguments that are no JSON never run; the model is told', async () => {
    await using bot = await saying(
      model,
      { calls: [{ name: 'rm', args: { path: '/' } }], fault: { malformedArgs: true } },
      { text: 'I see' },
    );
    const result = await bot.say('clean up');
    expect(['completed', 'failed']).toContain(result.reason);
    expect(result.pending).toEqual([]);
  });

  test('what the executor sends back is recorded, whatever the dialect', async () => {
    await using bot = await saying(model, { thought: 'hm', text: 'first' }, { text: 'second' });
    await bot.say('one');
    await bot.say('two');
    expect(bot.server.requests.map(({ conversation }) => conversation)).toEqual([
      [{ role: 'user', text: 'one' }],
      [
        { role: 'user', text: 'one' },
        { role: 'agent', calls: [] },
        { role: 'user', text: 'two' },
      ],
    ]);
  });
});

test('a path that is no URL is answered, and what an agent asks aside takes nothing of the script', async () => {
  await using server = await ModelServer.start({
    script: [{ text: 'the answer' }],
    aside: ({ body }) => (body.tools ? undefined : { text: 'a title' }),
  });
  expect((await fetch(`${server.url}//`)).status).toBe(404);
  const ask = async (body: object) => {
    const url = `${server.url}/v1/chat/completions`;
    return (await fetch(url, { method: 'POST', body: JSON.stringify({ messages: [], ...body }) })).text();
  };
  expect(await ask({})).toContain('a title');
  expect(await ask({ tools: [] })).toContain('the answer');
  expect([server.requests.length, server.remaining]).toEqual([1, 0]);
});
