import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  anthropicModel,
  findModel,
  keyOfModel,
  modelFromEnv,
  modelRegistry,
} from '../../../src/adapters/models/index.ts';
import { isCoxswainError } from '../../../src/contracts/index.ts';
import { root } from '../../structure/source.ts';
import { ask } from './kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses } from './providers.ts';
import { FakeProvider } from './server.ts';

const apiKey = 'sk-0123456789';

function thrown(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('S0-67 models by name', () => {
  test.each([
    ['gemini-flash-latest', gemini, 'gemini-flash-latest'],
    ['gemini/gemini-3-pro', gemini, 'gemini-3-pro'],
    ['google/gemma-3', gemini, 'gemma-3'],
    ['claude-sonnet-5', anthropic, 'claude-sonnet-5'],
    ['anthropic/claude-opus-5', anthropic, 'claude-opus-5'],
    ['gpt-5', openaiChat, 'gpt-5'],
    ['o3-mini', openaiChat, 'o3-mini'],
    ['openai/gpt-oss', openaiChat, 'gpt-oss'],
    ['deepseek/deepseek-chat', openaiChat, 'deepseek-chat'],
    ['new/o9', openaiResponses, 'o9'],
    ['mistral/large', openaiChat, 'mistral/large'],
    ['some-model', openaiChat, 'some-model'],
  ])('%s', async (name, under, asked) => {
    await using fake = await FakeProvider.start(() => ({ body: under.answer({ text: 'ok' }).stream }));
    const own = { apiKey, baseUrl: fake.url };
    const { models, findModel: find } = modelRegistry({
      gemini: own,
      anthropic: own,
      openai: own,
      providers: { deepseek: { api: 'openai', ...own }, new: { api: 'openai-responses', ...own } },
      fallback: { api: 'openai', ...own },
    });
    expect((await ask(find(name))).last.finishReason).toBe('stop');
    // The runtime names the model as it was asked for.
    expect((await ask(find(name), { model: name })).last.finishReason).toBe('stop');
    for (const seen of fake.requests) {
      if (seen.body.model === undefined) expect(seen.path).toContain(`/models/${asked}:`);
      else expect(seen.body.model).toBe(asked);
    }
    expect(fake.requests).toHaveLength(2);
    expect(models(name)).toBe(find(name));
  });

  test('OpenAI itself is asked through Responses, unless told otherwise', async () => {
    await using fake = await FakeProvider.start(() => ({ body: openaiResponses.answer({ text: 'ok' }).stream }));
    await ask(findModel('gpt-5', { openai: { apiKey, baseUrl: fake.url, api: 'responses' } }));
    expect(fake.requests[0]?.path).toBe('/responses');
  });

  test.each(['llama', 'nobody/model', '', 'claude-sonnet-5', 'constructor', '__proto__/x'])(
    '%j is not known',
    (name) => {
      const { models, findModel: find } = modelRegistry({ gemini: { apiKey } });
      expect(models(name)).toBeUndefined();
      const error = thrown(() => find(name));
      expect(isCoxswainError(error)).toBe(true);
      expect(error).toMatchObject({ status: 'NOT_FOUND', code: 'E_NO_MODEL' });
    },
  );

  test('a model without a key is refused when it is made', () => {
    expect(thrown(() => anthropicModel('claude'))).toMatchObject({
      status: 'FAILED_PRECONDITION',
      code: 'E_MODEL_SETUP',
    });
  });
});

describe('the model that the environment asks for', () => {
  test.each([
    [{ GEMINI_API_KEY: 'k1' }, 'gemini-flash-latest', 'GEMINI_API_KEY'],
    [{ GOOGLE_API_KEY: 'k1' }, 'gemini-flash-latest', 'GOOGLE_API_KEY'],
    [{ ANTHROPIC_API_KEY: 'k1', OPENAI_API_KEY: 'k2' }, 'claude-sonnet-5', 'ANTHROPIC_API_KEY'],
    [{ OPENAI_API_KEY: 'k1' }, 'gpt-5-mini', 'OPENAI_API_KEY'],
    [{ OPENAI_BASE_URL: 'http://localhost:1/v1' }, 'gpt-5-mini', 'OPENAI_BASE_URL'],
    [{ GEMINI_API_KEY: 'k1', COXSWAIN_MODEL: 'gemini-3-pro' }, 'gemini-3-pro', 'COXSWAIN_MODEL'],
  ])('%j', (env, name, because) => {
    const found = modelFromEnv(env);
    expect([found.name, found.model?.name]).toEqual([name, name]);
    expect(found.why).toContain(because);
    expect(found.why).not.toContain('k1');
  });

  test('nothing is set', () => {
    const found = modelFromEnv({});
    expect(found.model).toBeUndefined();
    expect(found.why).toContain('OPENAI_API_KEY');
  });

  test('a name whose provider has no key', () => {
    expect(thrown(() => modelFromEnv({ GEMINI_API_KEY: 'k' }, 'claude-opus-5'))).toMatchObject({ code: 'E_NO_MODEL' });
  });
});

test('importing the models loads no vendor package; the first request loads one', () => {
  const index = pathToFileURL(join(root, 'src/adapters/models/index.ts')).href;
  const code = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => {
      const vendor = /node_modules\\/(openai|@anthropic-ai\\/sdk|@google\\/genai)\\//.exec(url)?.[1];
      if (vendor) loaded.add(vendor);
      return next(url, context);
    } });
    const { anthropicModel, modelRegistry } = await import(${JSON.stringify(index)});
    const own = { apiKey: 'sk-0123456789', baseUrl: 'http://127.0.0.1:9', retry: { retries: 0 } };
    const { findModel } = modelRegistry({ gemini: own, anthropic: own, openai: own });
    for (const name of ['gemini-x', 'claude-x', 'gpt-x']) findModel(name);
    console.log(JSON.stringify([...loaded]));
    const request = { model: '', systemInstruction: '', contents: [], config: {}, tools: new Map(), agent: 'a' };
    const signal = new AbortController().signal;
    for await (const _ of findModel('claude-x').generate(request, { stream: true, signal })) ;
    console.log(JSON.stringify([...loaded]));
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(out.trim().split('\n')).toEqual(['[]', '["@anthropic-ai/sdk"]']);
});

test('T2 the variable of a key is found by the name that its model is found by', () => {
  const names = [
    'models/gemini-x',
    'google/a',
    'claude/a',
    'anthropic/a',
    'openai/a',
    'o3',
    'other',
    'other/gpt-5',
    '',
  ];
  const [gemini, claude, gpt] = ['GEMINI_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'];
  expect(names.map(keyOfModel)).toEqual([gemini, gemini, claude, claude, gpt, gpt, undefined, undefined, undefined]);
  const { models } = modelRegistry({ gemini: { apiKey }, anthropic: { apiKey }, openai: { apiKey } });
  for (const name of names.slice(0, -1)) expect(models(name) !== undefined).toBe(keyOfModel(name) !== undefined);
});
