import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chooseModel, modelUse } from '../../src/cli/workspace/model.ts';
import type { AgentModule } from '../../src/embed/index.ts';
import { fromAgent, LlmAgent, SequentialAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { openaiChat } from '../adapters/models/providers.ts';
import { FakeProvider } from '../adapters/models/server.ts';
import { Place, puppet, workspaceAgent } from './coxswain.ts';

const key = 'sk-0123456789abcdef';
const own = new ScriptedModel({ name: 'own', responses: [] });
const agent = (model?: ScriptedModel | string) => new LlmAgent({ name: 'agent', ...(model ? { model } : {}) });
const use = async (module: AgentModule, wanted: string | undefined, env: Record<string, string>) =>
  modelUse(module, await chooseModel(wanted, env));

describe('which model is asked', () => {
  test('an agent without one gets that of the environment, and it is said why', async () => {
    expect(await use({ agent: agent() }, undefined, { ANTHROPIC_API_KEY: key })).toEqual({
      name: 'claude-sonnet-5',
      note: 'model claude-sonnet-5: ANTHROPIC_API_KEY is set',
    });
    const named = { ANTHROPIC_API_KEY: key, COXSWAIN_MODEL: 'claude-opus-5' };
    expect(await use({ agent: agent() }, undefined, named)).toEqual({
      name: 'claude-opus-5',
      note: 'model claude-opus-5: COXSWAIN_MODEL names it',
    });
  });

  test('an agent with one keeps it', async () => {
    expect(await use({ agent: agent(own) }, undefined, { OPENAI_API_KEY: key })).toEqual({});
    expect(await use({ agent: agent('named') }, undefined, { OPENAI_API_KEY: key })).toEqual({});
    const sequence = new SequentialAgent({ name: 'all', subAgents: [agent(own)] });
    expect(await use({ agent: sequence }, undefined, { OPENAI_API_KEY: key })).toEqual({});
  });

  test('an agent in a sequence that has none gets it too', async () => {
    const sequence = new SequentialAgent({ name: 'all', subAgents: [agent()] });
    expect(await use({ agent: sequence }, undefined, { OPENAI_API_KEY: key })).toMatchObject({ name: 'gpt-5-mini' });
  });

  test('one that was taken from the context is said to be so', async () => {
    const choice = await chooseModel(undefined, { GEMINI_API_KEY: key });
    const taken = new LlmAgent({ name: 'agent', model: choice.model() ?? own });
    expect(modelUse({ agent: taken }, choice)).toEqual({ note: 'model gemini-flash-latest: GEMINI_API_KEY is set' });
  });

  test('--model goes before all', async () => {
    const env = { GEMINI_API_KEY: key, COXSWAIN_MODEL: 'gemini-3-pro' };
    expect(await use({ agent: agent(own) }, 'google/gemini-x', env)).toEqual({
      name: 'google/gemini-x',
      note: 'model google/gemini-x: --model names it',
    });
    const models = (name: string) => (name === 'mine' ? own : undefined);
    expect(await use({ agent: agent(own), models }, 'mine', {})).toMatchObject({ name: 'mine' });
    const elsewhere = fromAgent(agent(own));
    expect(await use({ agent: elsewhere }, 'its-own-idea', {})).toMatchObject({ name: 'its-own-idea' });
  });

  test('any name goes to a server of your own', async () => {
    const choice = await chooseModel('qwen3:8b', { OPENAI_BASE_URL: 'http://localhost:11434/v1' });
    expect(choice.model()?.name).toBe('qwen3:8b');
  });

  test('nothing is set: an agent without a model is told what could be, one that has its own is not', async () => {
    const { note, name } = await use({ agent: agent() }, undefined, {});
    expect([name, note]).toEqual([
      undefined,
      expect.stringMatching(/^no model: none of .*OPENAI_API_KEY.* is set.*--model/),
    ]);
    expect(await use({ agent: agent(own) }, undefined, {})).toEqual({});
    expect((await chooseModel(undefined, {})).model()).toBeUndefined();
  });

  test.each<[string | undefined, Record<string, string>]>([
    ['calude-sonnet', { ANTHROPIC_API_KEY: key }],
    ['gpt-5', {}],
    [undefined, { COXSWAIN_MODEL: 'gpt-5', GEMINI_API_KEY: key }],
  ])('--model %s in %j is refused with what to set, and no secret', async (wanted, env) => {
    const error = await use({ agent: agent() }, wanted, env).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_NO_MODEL', message: expect.stringContaining('OPENAI_API_KEY') });
    expect(String(error)).not.toContain(key);
  });

  test.each([
    ['gpt-5', 'OPENAI_API_KEY'],
    ['anthropic/claude-opus-5', 'ANTHROPIC_API_KEY'],
    ['gemini-3-pro', 'GEMINI_API_KEY'],
  ])('NEW-T8 %s without its key: %s is named', async (wanted, variable) => {
    const told = use({ agent: agent(own) }, wanted, {});
    await expect(told).rejects.toThrow(`model ${wanted} needs ${variable}, which is not set`);
  });

  test('a name that nobody knows is told which are known; white space around one is none of it', async () => {
    const error = use({ agent: agent() }, 'calude-sonnet', { ANTHROPIC_API_KEY: key });
    await expect(error).rejects.toThrow(/calude-sonnet; known are claude…\. Check the name, or set the key/);
    const env = { ANTHROPIC_API_KEY: key, COXSWAIN_MODEL: ' claude-opus-5\n' };
    expect(await use({ agent: agent() }, undefined, env)).toMatchObject({ name: 'claude-opus-5' });
    expect(await use({ agent: agent() }, ' claude-x ', env)).toMatchObject({ name: 'claude-x' });
  });

  test('an empty name is a mistake', async () => {
    await expect(chooseModel(' ', {})).rejects.toMatchObject({ code: 'E_USAGE' });
  });
});

describe('the command', () => {
  let place: Place;
  let fake: FakeProvider;
  beforeEach(async () => {
    place = new Place();
    fake = await FakeProvider.start(() => ({ body: openaiChat.answer({ text: 'from the server' }).stream }));
  });
  afterEach(async () => {
    place[Symbol.dispose]();
    await fake[Symbol.asyncDispose]();
  });

  test('asks the model of the environment where a module has none', async () => {
    mkdirSync(join(place.path, 'agents'));
    const file = join(place.path, 'agents', 'plain.mjs');
    writeFileSync(file, `import { LlmAgent } from 'coxswain'; export const agent = new LlmAgent({ name: 'plain' });`);
    const env = { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: key, COXSWAIN_MODEL: 'llama' };
    const { code, stdout, stderr } = await place.run(['run', file, 'hi', '--store', 'memory:'], { env });
    expect([code, stdout]).toEqual([0, 'from the server\n']);
    expect(stderr).toMatch(/^model llama: COXSWAIN_MODEL names it$/m);
    expect(fake.requests[0]?.body.model).toBe('llama');
    expect(stdout + stderr).not.toContain(key);
  });

  test('asks the model of --model, with the tools of the example workspace', async () => {
    const args = ['run', workspaceAgent, 'hi', '--workspace', place.files, '--store', 'memory:'];
    const env = { OPENAI_BASE_URL: fake.url };
    const { code, stdout, stderr } = await place.run([...args, '--model', 'openai/some-model'], { env });
    expect([code, stdout]).toEqual([0, 'from the server\n']);
    expect(stderr).toMatch(/^model openai\/some-model: --model names it$/m);
    const { tools } = openaiChat.read(fake.requests[0]?.body ?? {});
    expect(fake.requests[0]?.body.model).toBe('some-model');
    expect(tools).toContain('write_file');
  });

  test('without a key the example says that rules stand in, and what to set', async () => {
    const args = ['run', workspaceAgent, 'help', '--workspace', place.files, '--store', 'memory:'];
    const { code, stderr } = await place.run(args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^model offline-rules: none of GEMINI_API_KEY, .*is set; set one/m);
  });

  test('NEW-T8 a model without its key is told of in one line, which speaks of no other model', async () => {
    const args = ['run', workspaceAgent, 'hi', '--workspace', place.files, '--store', 'memory:', '--model', 'gpt-5'];
    const { code, stderr } = await place.run(args);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^coxswain: E_NO_MODEL model gpt-5 needs [^\n]*\n$/)]);
  });

  test('a model that nobody has is refused before anything runs', async () => {
    const { code, stdout, stderr } = await place.run([
      'run',
      puppet,
      'say hi',
      '--model',
      'no-such',
      '--store',
      'memory:',
    ]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^coxswain: E_NO_MODEL no provider is set up for model no-such; none is. Check the name, or set the key/,
    );
  });
});
