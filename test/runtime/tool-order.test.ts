import { expect, test } from 'vitest';
import type { AnyTool, SessionInput } from '../../src/contracts/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { LlmAgent, Runner } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const order: string[] = [];

function tool(name: string, after?: string[], more: Partial<AnyTool> = {}): AnyTool {
  return {
    name,
    description: name,
    annotations: { readOnly: true, ...(after ? { after } : {}) },
    async execute() {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      return name;
    },
    ...more,
  };
}

async function batch(tools: AnyTool[], calls: string[]) {
  order.length = 0;
  const model = new ScriptedModel([{ calls: calls.map((name) => [name] as const) }, 'done']);
  const runner = new Runner({ app: 'test', agent: new LlmAgent({ name: 'agent', model, tools }) });
  const run = async (input: string | SessionInput) => {
    const events: StoredEvent[] = [];
    for await (const event of runner.run({ userId: 'u', sessionId: 's', input })) events.push(event);
    return events;
  };
  return { events: await run('go'), run, model };
}

test('S1-28 a tool that comes after another waits for its calls, in whatever order they were made', async () => {
  const { model } = await batch([tool('book', ['find']), tool('find'), tool('look')], ['book', 'find', 'look']);
  expect(order).toEqual(['find begins', 'look begins', 'find ends', 'look ends', 'book begins', 'book ends']);
  const parts = model.requests[1]?.contents.at(-1)?.parts;
  expect(parts).toMatchObject(['book', 'find', 'look'].map((content) => ({ response: { content } })));
});

test('S1-28 chains, failures and unknown names', async () => {
  const find = tool('find', undefined, { execute: () => Promise.reject(new Error('nothing there')) });
  await batch([tool('pay', ['book']), tool('book', ['find', 'nobody']), find], ['pay', 'book', 'find', 'other']);
  expect(order).toEqual(['book begins', 'book ends', 'pay begins', 'pay ends']);
});

test('S1-28 tools that wait for one another run all the same', async () => {
  await batch([tool('a', ['b']), tool('b', ['a'])], ['a', 'b']);
  expect(order).toEqual(['a begins', 'b begins', 'a ends', 'b ends']);
});

test('S1-28 what comes after a call that waits for a yes waits with it, also after a restart', async () => {
  const { events, run } = await batch(
    [tool('pay', ['ask']), tool('ask', undefined, { needsApproval: true })],
    ['pay', 'ask'],
  );
  expect(order).toEqual([]);
  const ask = events.flatMap((event) => event.actions.asks ?? [])[0];
  await run({ kind: 'elicitation_response', requestId: ask?.requestId ?? '', response: { action: 'accept' } });
  expect(order).toEqual(['ask begins', 'ask ends', 'pay begins', 'pay ends']);
});

test('S1-28 what comes after a call that is refused runs then, though another call still waits for a yes', async () => {
  const asks = (name: string) => tool(name, undefined, { needsApproval: true });
  const { events, run } = await batch([tool('pay', ['ask']), asks('ask'), asks('other')], ['pay', 'ask', 'other']);
  const [ask] = events.flatMap((event) => event.actions.asks ?? []);
  await run({ kind: 'elicitation_response', requestId: ask?.requestId ?? '', response: { action: 'decline' } });
  expect(order).toEqual(['pay begins', 'pay ends']);
});
