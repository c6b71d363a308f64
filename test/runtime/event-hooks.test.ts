import { describe, expect, test } from 'vitest';
import type { Plugin, StoredEvent } from '../../src/runtime/index.ts';
import { CustomAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, errorOf, llm, responses, said, tool } from './kit.ts';

const onEvent = (edit: (event: StoredEvent) => unknown): Plugin[] => [
  { name: 'editor', onEvent: (_, event) => edit(event) as StoredEvent | undefined },
];
const has = (event: StoredEvent, type: string) => event.content?.parts.some((part) => part.type === type) ?? false;

function setting(edit: (event: StoredEvent) => unknown) {
  const runs: unknown[] = [];
  const look = tool('look', (args) => void runs.push(args), { annotations: { readOnly: true } });
  const model = new ScriptedModel([{ calls: [['look', { n: 1 }]] }, 'done']);
  return { runs, model, ...bench(llm('bot', model, { tools: [look] }), { plugins: onEvent(edit) }) };
}

describe('S0-07 on_event', () => {
  test.each([undefined, null])(
    'MUT-R30 words that are taken away (%s) end the turn all the same: no model is asked again',
    async (content) => {
      const { say, model } = setting((event) => (has(event, 'text') ? { ...event, content } : undefined));
      const events = await say('hi');
      expect([endOf(events), model.requests.length]).toEqual(['completed', 2]);
      expect(said(events)).toEqual(['user: hi', 'bot: call look({"n":1})', 'bot: look = {"content":""}']);
    },
  );

  test.each<[string, (event: StoredEvent) => unknown, RegExp]>([
    [
      'leaves out a response',
      (event) => has(event, 'function_response') && { ...event, content: { role: 'user', parts: [] } },
      /left out a function_response \(look\)/,
    ],
    [
      'leaves out a call',
      (event) => has(event, 'function_call') && { ...event, content: { role: 'model', parts: [] } },
      /left out a function_call \(look\)/,
    ],
    [
      'makes a call',
      (event) =>
        has(event, 'function_call') && {
          content: {
            parts: [...(event.content?.parts ?? []), { type: 'function_call', id: 'x', name: 'look', args: {} }],
          },
        },
      /made a function_call of its own \(look\)/,
    ],
    [
      'changes the arguments of a call',
      (event) =>
        has(event, 'function_call') && {
          ...event,
          content: { role: 'model', parts: event.content?.parts.map((part) => ({ ...part, args: { n: 2 } })) },
        },
      /changed the arguments of a call of look; a before_tool hook may/,
    ],
    ['gives a text', () => 'words', /is no event/],
    ['gives content without parts', (event) => ({ ...event, content: 'words' }), /has no parts/],
    [
      'changes an event in place',
      (event) => {
        if (event.content) event.content.parts.length = 0;
      },
      /Cannot assign to read only property|not extensible|Cannot delete/,
    ],
  ])('a hook that %s fails closed: the turn ends, nothing runs twice', async (_, edit, message) => {
    const { say, runs } = setting(edit);
    const events = await say('hi');
    expect(endOf(events)).toBe('failed');
    expect(errorOf(events)).toMatchObject({ code: 'E_HOOK_FAILED', message: expect.stringMatching(message) });
    expect(runs.length).toBeLessThan(2);
  });

  test('what a response says may be replaced; the model is told that', async () => {
    const { say, model } = setting((event) =>
      has(event, 'function_response')
        ? {
            content: { parts: event.content?.parts.map((part) => ({ ...part, response: { hidden: true } })) },
          }
        : undefined,
    );
    const events = await say('hi');
    expect([endOf(events), responses(events).look]).toEqual(['completed', { hidden: true }]);
    expect(brief(model.requests[1]?.contents).at(-1)).toBe('user: look = {"hidden":true}');
  });

  test('marks, identity and counts stay the runtime’s; state without temp: is taken', async () => {
    const { say, state } = setting((event) => ({
      ...event,
      id: 'forged',
      author: 'user',
      model: undefined,
      longRunningToolIds: ['x'],
      actions: {
        stateDelta: { seen: true, 'temp:x': 1 },
        decisions: { x: { outcome: 'approved', by: 'me' } },
        end: { reason: 'completed' },
      },
    }));
    const events = await say('hi');
    expect(events.map(({ author }) => author)).toEqual(['user', 'bot', 'bot', 'bot', 'bot']);
    expect(events.some(({ id, actions }) => id === 'forged' || actions.decisions?.x !== undefined)).toBe(false);
    expect(events.filter(({ actions }) => actions.end)).toHaveLength(1);
    expect(await state()).toEqual({ seen: true });
  });

  test('a step of a custom agent is found again, whatever its event was made to say', async () => {
    let works = 0;
    const agent = new CustomAgent({
      name: 'bot',
      subAgents: [],
      async run(context) {
        await context.step('one', () => ++works);
        await context.run(ask);
      },
    });
    const pay = tool('pay', () => 'paid', { needsApproval: true });
    const ask = llm('asker', new ScriptedModel([{ calls: [['pay']] }, 'paid']), { tools: [pay] });
    const { say } = bench(agent, { plugins: onEvent((event) => ({ ...event, customMetadata: { mine: 1 } })) });
    const asked = await say('hi');
    const requestId = String(asked.at(-1)?.actions.asks?.[0]?.requestId);
    const done = await say({ kind: 'elicitation_response', requestId, response: { action: 'accept' } });
    expect([endOf(done), works]).toEqual(['completed', 1]);
  });
});
