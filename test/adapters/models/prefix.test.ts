import { describe, expect, test } from 'vitest';
import { anthropicModel } from '../../../src/adapters/models/index.ts';
import { allowAll, createHost, LlmAgent, run } from '../../../src/index.ts';
import type { ModelRequest } from '../../../src/runtime/index.ts';
import type { Said } from '../../suites/model.ts';
import { everyProvider } from './ai-sdk-providers.ts';
import { call, request, result, model as said, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

/** The members of each wire that hold the history, and those that hold nothing which a prefix is made of. */
const histories = ['messages', 'input', 'contents'];
type Json = Record<string, unknown>;

/** What a provider compares: the settings in front, and each message in its bytes. Marks of the cache are no content. */
function encoded(body: Json): { front: string; messages: string[] } {
  const bare = JSON.parse(JSON.stringify(body), (name, value: unknown) =>
    name === 'cache_control' ? undefined : value,
  ) as Json;
  const name = histories.find((each) => Array.isArray(bare[each])) ?? '';
  const messages = (bare[name] as unknown[]).map((message) => JSON.stringify(message));
  delete bare[name];
  return { front: JSON.stringify(bare), messages };
}

/** Seven steps: thoughts, calls beside one another, an error, pictures, further turns. */
async function session(under: (typeof everyProvider)[number], thought: string | undefined): Promise<Json[]> {
  const script: Said[] = [
    {
      ...(thought === undefined ? {} : { thought }),
      text: 'Looking.',
      calls: [{ id: 'c1', name: 'look', args: { at: 'ü' } }],
    },
    {
      calls: [
        { id: 'c2', name: 'look', args: {} },
        { id: 'c3', name: 'fail', args: { n: 1.5 } },
      ],
    },
    { thought: 'Hm.', calls: [{ id: 'c4', name: 'pay', args: { usd: 3 } }] },
    { text: 'Paid.' },
    { text: 'Hello again.' },
    { calls: [{ id: 'c5', name: 'shot' }] },
    { text: 'A cat.' },
  ];
  await using fake = await FakeProvider.start((_, count) => ({
    body: under.answer(script[count - 1] ?? { text: 'no more' }).stream,
  }));
  const schema = { type: 'object', properties: { z: { type: 'string' }, a: { enum: ['x', 'y'] } } };
  const readOnly = { annotations: { readOnly: true }, inputSchema: schema };
  const picture = { type: 'media', mimeType: 'image/png', data: 'AQID' } as const;
  const tools = [
    { name: 'look', description: 'looks', ...readOnly, execute: () => ({ b: 1, a: [2, null] }) },
    { name: 'fail', description: 'fails', ...readOnly, execute: () => Promise.reject(new Error('broken')) },
    { name: 'pay', description: 'pays', inputSchema: schema, execute: () => 'paid' },
    { name: 'shot', description: 'shows', ...readOnly, execute: () => ({ content: [picture] }) },
  ];
  const agent = new LlmAgent({ name: 'bot', model: under.model(fake.url), instruction: 'Be brief.', tools });
  const host = createHost({ app: 'shop', agents: [agent], policy: allowAll() });
  const open = await host.open('bot');
  const first = await run(open, 'go');
  expect(first.reason).toBe('completed');
  await run(open, 'hello');
  await run(open, { kind: 'message', content: [{ type: 'text', text: 'look' }, picture] });
  return fake.requests.map(({ body }) => body);
}

describe('CACHE-1 each request begins with the bytes of the one before', () => {
  const each = everyProvider.flatMap((under) => [
    { under, title: under.title, thought: 'Plan.', when: 'from the first step on' },
    { under, title: under.title, thought: undefined, when: 'in the third step for the first time' },
  ]);
  test.each(each)('at $title, which thinks $when', async ({ under, thought }) => {
    const bodies = (await session(under, thought)).map(encoded);
    expect(bodies).toHaveLength(7);
    for (const [at, { front, messages }] of bodies.entries()) {
      const before = bodies[at - 1];
      if (!before) continue;
      expect(front).toBe(before.front);
      expect(messages.length).toBeGreaterThan(before.messages.length);
      expect(messages.slice(0, before.messages.length)).toEqual(before.messages);
    }
  });
});

const tools = new Map([tool('look'), tool('save')]);
const history = [
  user('hi'),
  said(call('c1', 'look')),
  user(result('c1', 'look', { a: 1 })),
  said(call('c2', 'look')),
  user(result('c2', 'look', { a: 2 })),
];

const claudes = everyProvider.filter(({ title }) => /Anthropic/.test(title));

describe.each(claudes)('the marks that $title has', (under) => {
  async function body(init: Partial<ModelRequest>, more: { pauses?: boolean } = {}) {
    await using fake = await FakeProvider.start(() => ({ body: under.answer({ text: 'ok' }).stream }));
    const asked = under
      .model(fake.url)
      .generate(request(init), { stream: true, signal: new AbortController().signal, ...more });
    for await (const _ of asked);
    return fake.requests[0]?.body as { tools: Json[]; system: Json[]; messages: { content: Json[] }[] };
  }
  const marksIn = (text: unknown) => JSON.stringify(text).split('"cache_control"').length - 1;

  test('CACHE-2 stand at the end of tools, of system, of the newest words and of those of the step before', async () => {
    const { tools: declared, system, messages } = await body({ tools, contents: history, systemInstruction: 'brief' });
    const mark = { type: 'ephemeral' };
    expect([declared.map((each) => each.cache_control), system.map((each) => each.cache_control)]).toEqual([
      [undefined, mark],
      [mark],
    ]);
    expect(messages.map(({ content }) => marksIn(content))).toEqual([0, 0, 1, 0, 1]);
    expect(messages.at(-1)?.content.at(-1)).toMatchObject({ type: 'tool_result', cache_control: mark });
  });

  test('CACHE-3 last an hour in a turn that asks people, and are none without tools', async () => {
    const long = await body({ tools, contents: history }, { pauses: true });
    expect(JSON.stringify(long).split('"cache_control":{"type":"ephemeral","ttl":"1h"}')).toHaveLength(4);
    expect(marksIn(await body({ contents: history }))).toBe(0);
  });
});

test('CACHE-4 who marks by himself, or wants none, is left alone', async () => {
  let sent = '';
  const fetch = async (_: unknown, { body }: { body?: unknown } = {}) => {
    sent = String(body);
    return Response.json({ error: { message: 'no' } }, { status: 400 });
  };
  const asked = async (options: object, config = {}) => {
    const model = anthropicModel('claude', { apiKey: 'sk-0123456789', fetch, ...options });
    for await (const _ of model.generate(request({ tools, config }), {
      stream: true,
      signal: new AbortController().signal,
    }));
    return sent.split('"cache_control"').length - 1;
  };
  expect(await asked({})).toBe(2);
  expect(await asked({ cache: 'none' })).toBe(0);
  expect(await asked({}, { cache_control: { type: 'ephemeral' } })).toBe(1);
  expect(await asked({}, { tools: [{ type: 'web_search', name: 's', cache_control: { type: 'ephemeral' } }] })).toBe(1);
  expect(() => anthropicModel('claude', { apiKey: 'sk-0123456789', cache: '2h' as never })).toThrow(
    expect.objectContaining({ code: 'E_BAD_INPUT' }),
  );
});
