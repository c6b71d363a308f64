import { describe, expect, test } from 'vitest';
import type { ToolDescriptor } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/index.ts';
import type { EditableRequest, LlmAgentOptions, Model, ModelRequest, Plugin } from '../../src/runtime/index.ts';
import { hooksPlugin, InMemorySessionService } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { endOf as endOfStream, hostOf, say as sayTo } from '../host/kit.ts';
import { bench, brief, endOf, errorOf, llm, mortal, responses, said, tool, user } from './kit.ts';

/** A model that keeps whole requests, as it was given them. */
function keeping(script: Script[] = ['ok', 'ok', 'ok']): { model: Model; asked: ModelRequest[] } {
  const scripted = new ScriptedModel(script);
  const asked: ModelRequest[] = [];
  const model: Model = {
    name: 'kept',
    generate(request, options) {
      asked.push(structuredClone({ ...request, contents: [...request.contents] }));
      return scripted.generate(request, options);
    },
  };
  return { model, asked };
}

const renamed = (tools: EditableRequest['tools'], name: string) => tools.get(name) as ToolDescriptor;

/** Changes everything that a request has, in place and by assignment. */
function change(request: EditableRequest): undefined {
  request.systemInstruction += ' Answer in rhyme.';
  const [first] = request.contents;
  if (first?.parts[0]?.type === 'text') first.parts[0].text = 'hidden';
  request.contents = [...request.contents, user('and now?')];
  (request.config.deep as { n: number }).n = 2;
  request.config.topK = 1;
  request.tools.delete('drop');
  const kept = request.tools.get('keep');
  if (kept) kept.description = 'told otherwise';
  return undefined;
}

const options = (): Omit<LlmAgentOptions, 'name'> => ({
  instruction: 'Be kind.',
  generateContentConfig: { deep: { n: 1 } },
  tools: [tool('keep', () => 1), tool('drop', () => 2)],
});

function expectChanged(request: ModelRequest | undefined): void {
  expect(request?.systemInstruction).toBe('Be kind. Answer in rhyme.');
  expect(brief(request?.contents)).toEqual(['user: hidden', 'user: and now?']);
  expect(request?.config).toEqual({ deep: { n: 2 }, topK: 1 });
  expect([...(request?.tools.values() ?? [])].map(({ description }) => description)).toEqual(['told otherwise']);
}

describe('S0-35 what a before_model hook makes of a request is what the model is asked, in this call only', () => {
  const ways: Record<string, (once: (request: EditableRequest) => undefined) => [Partial<LlmAgentOptions>, Plugin[]]> =
    {
      'an agent’s callback': (once) => [{ beforeModel: (_, request) => once(request) }, []],
      'a plugin': (once) => [{}, [{ name: 'p', beforeModel: (_, request) => once(request) }]],
      'an interceptor': (once) => [
        {},
        [hooksPlugin(hooks({ beforeModel: ({ llmRequest }) => once(llmRequest as EditableRequest) }))],
      ],
    };
  test.each(Object.entries(ways))('%s', async (_, way) => {
    const { model, asked } = keeping();
    let calls = 0;
    const [callbacks, plugins] = way((request) => (calls++ === 0 ? change(request) : undefined));
    const { say, log } = bench(llm('bot', model, { ...options(), ...callbacks }), { plugins });
    await say('hi');
    await say('again');
    expectChanged(asked[0]);
    // Neither the log nor the agent has changed.
    expect(said(await log())).toEqual(['user: hi', 'bot: ok', 'user: again', 'bot: ok']);
    expect(asked[1]?.systemInstruction).toBe('Be kind.');
    expect(brief(asked[1]?.contents)).toEqual(['user: hi', 'model: ok', 'user: again']);
    expect(asked[1]?.config).toEqual({ deep: { n: 1 } });
    expect([...(asked[1]?.tools.values() ?? [])].map(({ description }) => description)).toEqual([
      'does keep',
      'does drop',
    ]);
  });

  test('a host’s hooks', async () => {
    const { model, asked } = keeping();
    const { host } = hostOf(llm('bot', model, options()), {
      policy: allowAll(),
      hooks: hooks({ beforeModel: ({ llmRequest }) => change(llmRequest as EditableRequest) }),
    });
    expect(endOfStream(await sayTo(await host.open('bot'), 'hi')).reason).toBe('completed');
    expectChanged(asked[0]);
  });

  test('responses that are still in the making are not changed for the steps after', async () => {
    const { model, asked } = keeping([{ calls: [['keep']] }, { calls: [['keep']] }, 'ok']);
    const { say } = bench(
      llm('bot', model, {
        ...options(),
        beforeModel: (_, { contents }) => {
          contents.at(-1)?.parts.push({ type: 'text', text: 'hurry' });
          return undefined;
        },
      }),
    );
    await say('hi');
    expect(brief(asked[2]?.contents)).toEqual([
      'user: hi',
      'model: call keep({})',
      'user: keep = {"content":1}',
      'model: call keep({})',
      'user: keep = {"content":1} | hurry',
    ]);
  });

  test('the hooks of one point build on one another; who looks after an error sees what was asked', async () => {
    const seen: string[] = [];
    const add = (text: string) => (_: unknown, request: EditableRequest) => {
      request.systemInstruction += text;
      return undefined;
    };
    const model = new ScriptedModel([{ error: new Error('down') }]);
    await bench(
      llm('bot', model, {
        beforeModel: [add('a'), add('b')],
        onModelError: (_, { systemInstruction, contents }) => {
          seen.push(systemInstruction, ...brief(contents));
          return undefined;
        },
      }),
      { plugins: [{ name: 'p', beforeModel: add('p') }] },
    ).say('hi');
    expect(seen).toEqual(['pab', 'user: hi']);
  });
});

describe('S0-35 a changed request and what comes of it', () => {
  test('a tool that was taken away cannot be called', async () => {
    const ran: string[] = [];
    const { say } = bench(
      llm('bot', new ScriptedModel([{ calls: [['drop'], ['keep']] }, 'ok']), {
        tools: [tool('keep', () => void ran.push('keep')), tool('drop', () => void ran.push('drop'))],
        beforeModel: (_, { tools }) => void tools.delete('drop') as undefined,
      }),
    );
    const events = await say('hi');
    expect(ran).toEqual(['keep']);
    expect(responses(events).drop).toEqual({ error: 'Tool not found: drop. Valid tools: keep' });
    expect(endOf(events)).toBe('completed');
  });

  test('another model is asked by its name; one that nobody knows ends the turn', async () => {
    const big = new ScriptedModel(['from the big one']);
    const own = new ScriptedModel(['own', 'own again']);
    let named = 'big';
    const agent = llm('bot', own, {
      beforeModel: (_, request) => {
        request.model = named;
        return undefined;
      },
    });
    const { say } = bench(agent, { models: (name) => (name === 'big' ? big : undefined) });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: from the big one']);
    expect(events[1]?.model).toBe('big');
    // A model object may serve several names.
    named = 'variant';
    expect((await say('hi')).find(({ model }) => model !== undefined)?.model).toBe('variant');
    const nameless = bench(llm('bot', undefined, { beforeModel: agentsHook('nobody') }));
    expect(errorOf(await nameless.say('hi'))).toMatchObject({ code: 'E_NO_MODEL' });
  });

  const agentsHook = (name: string) => (_: unknown, request: EditableRequest) => {
    request.model = name;
    return undefined;
  };

  test.each<[string, (request: EditableRequest) => void, RegExp]>([
    [
      'a tool that the agent does not have',
      ({ tools }) => tools.set('x', renamed(tools, 'keep')),
      /tool x was not offered/,
    ],
    ['another name for a tool', ({ tools }) => tools.set('keep', renamed(tools, 'drop')), /tool keep has another name/],
    ['contents that are none', (request) => void Object.assign(request, { contents: ['hi'] }), /contents are no list/],
    [
      'no instruction',
      (request) => void Object.assign(request, { systemInstruction: undefined }),
      /systemInstruction is no text/,
    ],
    ['no config', (request) => void Object.assign(request, { config: null }), /config is no object/],
    ['no tools', (request) => void Object.assign(request, { tools: [] }), /tools are no Map/],
    ['no model', (request) => void Object.assign(request, { model: 7 }), /model is no text/],
    ['another agent', (request) => void Object.assign(request, { agent: 'you' }), /before_model hook failed: .*agent/],
  ])('%s: nobody is asked, the turn says why', async (_, edit, message) => {
    const { model, asked } = keeping();
    const { say } = bench(
      llm('bot', model, {
        ...options(),
        beforeModel: (_context, request) => {
          edit(request);
          return undefined;
        },
      }),
    );
    const events = await say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_HOOK_FAILED', message: expect.stringMatching(message) });
    expect([endOf(events), asked]).toEqual(['failed', []]);
  });

  test('after a crash nothing of it is needed: answers are in the log, the next request is made and changed anew', async () => {
    const sessions = new InMemorySessionService();
    const agent = (script: Script[]) => {
      const { model, asked } = keeping(script);
      const hook = (_: unknown, request: EditableRequest) => {
        request.systemInstruction = `step ${request.contents.length}`;
        request.contents = request.contents.slice(-1);
        return undefined;
      };
      return { asked, agent: llm('bot', model, { tools: [tool('keep', () => 1)], beforeModel: hook }) };
    };
    const first = agent([{ calls: [['keep']] }, 'lost']);
    const dies = mortal(sessions, (events) => JSON.stringify(events).includes('lost'));
    await bench(first.agent, { store: dies })
      .say('hi')
      .catch(() => {});
    const second = agent(['found']);
    const events = await bench(second.agent, { store: sessions }).say({ kind: 'continue' });
    expect(said(events)).toEqual(['bot: found']);
    expect(second.asked.map(({ systemInstruction, contents }) => [systemInstruction, brief(contents)])).toEqual([
      ['step 3', ['user: keep = {"content":1}']],
    ]);
    expect(second.asked[0]?.systemInstruction).toBe(first.asked[1]?.systemInstruction);
  });
});
