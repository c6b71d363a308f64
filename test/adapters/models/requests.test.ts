import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../../src/contracts/index.ts';
import type { ModelRequest } from '../../../src/runtime/index.ts';
import { call, model, result, user } from './kit.ts';
import type { Sent } from './sent.ts';
import { anthropic, chat, contentsOf, gemini, input, messages, oldGemini } from './sent.ts';

const listOf = <T = Sent>(value: unknown): T[] => (Array.isArray(value) ? value : []);

const png: ContentPart = { type: 'media', mimeType: 'image/png', data: 'AQI=' };
const media = (mimeType: string, more: { data?: string; uri?: string }): ContentPart => ({
  type: 'media',
  mimeType,
  ...more,
});
const words = Buffer.from('some words').toString('base64');
const note = (mimeType: string, at = '') => `[${mimeType}${at}: not shown, this model cannot read it]`;

describe('media, as each provider takes them', () => {
  type Expected = unknown[];
  const text = (said: string) => ({ type: 'text', text: said });
  const cases: [string, ContentPart, { anthropic: unknown; chat: unknown; responses: unknown; gemini: unknown }][] = [
    [
      'a picture',
      png,
      {
        anthropic: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQI=' } },
        chat: { type: 'image_url', image_url: { url: 'data:image/png;base64,AQI=' } },
        responses: { type: 'input_image', image_url: 'data:image/png;base64,AQI=', detail: 'auto' },
        gemini: { inlineData: { mimeType: 'image/png', data: 'AQI=' } },
      },
    ],
    [
      'a picture elsewhere',
      media('image/jpeg', { uri: 'https://x/y' }),
      {
        anthropic: { type: 'image', source: { type: 'url', url: 'https://x/y' } },
        chat: { type: 'image_url', image_url: { url: 'https://x/y' } },
        responses: { type: 'input_image', image_url: 'https://x/y', detail: 'auto' },
        gemini: { fileData: { mimeType: 'image/jpeg', fileUri: 'https://x/y' } },
      },
    ],
    [
      'a picture of a kind that is not common',
      media('image/tiff', { data: 'AQI=' }),
      {
        anthropic: text(note('image/tiff')),
        chat: { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AQI=' } },
        responses: { type: 'input_image', image_url: 'data:image/tiff;base64,AQI=', detail: 'auto' },
        gemini: { inlineData: { mimeType: 'image/tiff', data: 'AQI=' } },
      },
    ],
    [
      'a document',
      media('application/pdf', { data: 'AQI=' }),
      {
        anthropic: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AQI=' } },
        chat: { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,AQI=' } },
        responses: { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,AQI=' },
        gemini: { inlineData: { mimeType: 'application/pdf', data: 'AQI=' } },
      },
    ],
    [
      'a document elsewhere',
      media('application/pdf', { uri: 'https://x/y' }),
      {
        anthropic: { type: 'document', source: { type: 'url', url: 'https://x/y' } },
        chat: text(note('application/pdf', ' at https://x/y')),
        responses: { type: 'input_file', file_url: 'https://x/y' },
        gemini: { fileData: { mimeType: 'application/pdf', fileUri: 'https://x/y' } },
      },
    ],
    [
      'a document of which there is nothing',
      media('application/pdf', {}),
      {
        anthropic: text(note('application/pdf')),
        chat: text(note('application/pdf')),
        responses: { type: 'input_text', text: note('application/pdf') },
        gemini: { text: note('application/pdf') },
      },
    ],
    [
      'a document at an address of its own',
      media('application/pdf', { uri: 'gs://x/y' }),
      {
        anthropic: text(note('application/pdf', ' at gs://x/y')),
        chat: text(note('application/pdf', ' at gs://x/y')),
        responses: { type: 'input_file', file_url: 'gs://x/y' },
        gemini: { fileData: { mimeType: 'application/pdf', fileUri: 'gs://x/y' } },
      },
    ],
    [
      'text',
      media('text/plain', { data: words }),
      {
        anthropic: text('some words'),
        chat: text('some words'),
        responses: { type: 'input_text', text: 'some words' },
        gemini: { text: 'some words' },
      },
    ],
    [
      'text elsewhere',
      media('text/plain', { uri: 'https://x/y' }),
      {
        anthropic: text(note('text/plain', ' at https://x/y')),
        chat: text(note('text/plain', ' at https://x/y')),
        responses: { type: 'input_text', text: note('text/plain', ' at https://x/y') },
        gemini: { fileData: { mimeType: 'text/plain', fileUri: 'https://x/y' } },
      },
    ],
    ...(
      [
        ['audio/wav', 'wav'],
        ['audio/x-wav', 'wav'],
        ['audio/mpeg', 'mp3'],
        ['audio/mp3', 'mp3'],
        ['audio/ogg', undefined],
      ] as const
    ).map(([mimeType, format]): (typeof cases)[number] => [
      `sound as ${mimeType}`,
      media(mimeType, { data: 'AQI=' }),
      {
        anthropic: text(note(mimeType)),
        chat: format ? { type: 'input_audio', input_audio: { data: 'AQI=', format } } : text(note(mimeType)),
        responses: { type: 'input_text', text: note(mimeType) },
        gemini: { inlineData: { mimeType, data: 'AQI=' } },
      },
    ]),
    [
      'sound elsewhere',
      media('audio/wav', { uri: 'https://x/y' }),
      {
        anthropic: text(note('audio/wav', ' at https://x/y')),
        chat: text(note('audio/wav', ' at https://x/y')),
        responses: { type: 'input_text', text: note('audio/wav', ' at https://x/y') },
        gemini: { fileData: { mimeType: 'audio/wav', fileUri: 'https://x/y' } },
      },
    ],
  ];

  test.each(cases)('%s, of a user', async (_, part, expected) => {
    const said = user('see', part);
    expect((await messages(anthropic, said))[0]?.content).toEqual([text('see'), expected.anthropic]);
    expect((await messages(chat, said))[0]?.content).toEqual([text('see'), expected.chat]);
    expect((await input(said))[0]?.content).toEqual([{ type: 'input_text', text: 'see' }, expected.responses]);
    expect((await contentsOf(gemini, said))[0]?.parts).toEqual([{ text: 'see' }, expected.gemini]);
  });

  test.each(cases)('%s, of a tool', async (_, part, expected) => {
    const outcome = { ...result('c', 'f', { content: 'done' }), content: [part] } as ContentPart;
    const turns = [user('hi'), model(call('c', 'f')), user(outcome)] as const;
    expect((await messages(anthropic, ...turns))[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: [text('done'), expected.anthropic] },
    ]);
    expect((await messages(chat, ...turns)).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { role: 'user', content: [text('Attached to the result of f:'), expected.chat] },
    ]);
    expect((await input(...turns))[2]).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'input_text', text: 'done' }, expected.responses],
    });
    const response = { name: 'f', response: { content: 'done' } };
    expect((await contentsOf(gemini, ...turns))[2]?.parts).toEqual([
      { functionResponse: { ...response, parts: [expected.gemini] } },
    ]);
    const beside: Expected = [{ functionResponse: response }, expected.gemini];
    expect((await contentsOf(oldGemini, ...turns))[2]?.parts).toEqual(beside);
  });
});

describe('what a part says in words', () => {
  test.each<[string, ContentPart, string]>([
    ['text', { type: 'text', text: 'a' }, 'a'],
    ['a reference', { type: 'reference', text: 'a' }, 'a'],
    ['a reference with its place', { type: 'reference', text: 'a', uri: 'u' }, '[u]\na'],
    ['code', { type: 'code', language: 'js', code: '1' }, '```js\n1\n```'],
    ['what it put out', { type: 'code_result', output: '1' }, '```\n1\n```'],
  ])('%s', async (_, part, said) => {
    expect((await messages(anthropic, user(part)))[0]?.content).toEqual([{ type: 'text', text: said }]);
    expect((await messages(chat, user(part)))[0]?.content).toBe(said);
    expect((await input(user(part)))[0]?.content).toEqual([{ type: 'input_text', text: said }]);
    expect((await contentsOf(gemini, user(part)))[0]?.parts).toEqual([{ text: said }]);
    const turns = [user('hi'), model(part), user('go')] as const;
    expect((await messages(anthropic, ...turns))[1]?.content).toEqual([{ type: 'text', text: said }]);
    expect((await messages(chat, ...turns))[1]).toEqual({ role: 'assistant', content: said });
    expect((await input(...turns))[1]).toEqual({ type: 'message', role: 'assistant', content: said });
    expect((await contentsOf(gemini, ...turns))[1]?.parts).toEqual([{ text: said }]);
  });

  test('a refusal is one where there is a word for it', async () => {
    const turns = [user('hi'), model({ type: 'refusal', text: 'no' }), user('go')] as const;
    expect((await messages(chat, ...turns))[1]).toEqual({ role: 'assistant', content: null, refusal: 'no' });
    expect((await messages(anthropic, ...turns))[1]?.content).toEqual([{ type: 'text', text: 'no' }]);
    expect((await input(...turns))[1]).toMatchObject({ content: 'no' });
  });

  test('what says nothing is not sent, and neither is a turn of it', async () => {
    const silent: ContentPart[] = [
      { type: 'text', text: '' },
      { type: 'citation', title: 't' },
      { type: 'thought', thought: 'hm' },
      { type: '_provider', _meta: { provider: { name: 'another', opaque: { a: 1 } } } },
    ];
    const turns = [user('hi'), model(...silent), user('go', ...silent)] as const;
    expect(await messages(anthropic, ...turns)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
    ]);
    expect(await messages(chat, ...turns)).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'go' },
    ]);
    expect((await input(...turns)).map(({ content }) => content)).toEqual([
      [{ type: 'input_text', text: 'hi' }],
      [{ type: 'input_text', text: 'go' }],
    ]);
    expect((await contentsOf(gemini, ...turns)).map(({ parts }) => parts)).toEqual([
      [{ text: 'hi' }],
      [{ text: 'go' }],
    ]);
    const blank = await messages(anthropic, user('hi', '  \n'));
    expect(blank[0]?.content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  test('a conversation begins and ends with its user', async () => {
    const roles = async (...turns: ModelRequest['contents'][number][]) =>
      (await messages(chat, ...turns)).map(({ role }) => role);
    expect(await roles()).toEqual(['user']);
    expect(await roles(model('a'))).toEqual(['user', 'assistant', 'user']);
    expect(await roles(user('a'), user('b'), model('c'), { role: 'user', parts: [] }, model('d'))).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });
});

describe('what a tool came to', () => {
  const outcome = async (response: Record<string, unknown>, content?: ContentPart[]) => {
    const part = { ...result('c', 'f', response), ...(content ? { content } : {}) } as ContentPart;
    const turns = [user('hi'), model(call('c', 'f')), user(part)] as const;
    const said = (await messages(chat, ...turns))[2]?.content;
    expect((await input(...turns))[2]).toMatchObject({ output: said });
    const [answer] = listOf<{ functionResponse: Sent }>((await contentsOf(gemini, ...turns))[2]?.parts);
    return [said, answer?.functionResponse.response];
  };
  test.each<[string, Record<string, unknown>, ContentPart[] | undefined, unknown, unknown]>([
    ['text', { content: 'a' }, undefined, 'a', { content: 'a' }],
    ['an object', { a: 1 }, undefined, '{"a":1}', { a: 1 }],
    ['a list', { content: [1] }, undefined, '[1]', { content: [1] }],
    ['two members', { content: 'a', b: 1 }, undefined, '{"content":"a","b":1}', { content: 'a', b: 1 }],
    ['nothing', { content: null }, undefined, 'null', { content: null }],
    ['words beside', { a: 1 }, [{ type: 'text', text: 'b' }], '{"a":1}\nb', { a: 1, text: 'b' }],
    ['words beside a text', { text: 1 }, [{ type: 'text', text: 'b' }], '{"text":1}\nb', { text: 1 }],
  ])('%s', async (_, response, content, said, object) => {
    expect(await outcome(response, content)).toEqual([said, object]);
  });

  test('what goes as media is not said again in words, however deep it stands', async () => {
    const data = 'A'.repeat(64);
    const part: ContentPart = { type: 'media', mimeType: 'image/png', data };
    const response = { pictures: [{ data, of: `x${data}y`, n: 1, none: null }] };
    const turns = [
      user('hi'),
      model(call('c', 'f')),
      user({ ...result('c', 'f', response), content: [part, { type: 'text', text: data }] } as ContentPart),
    ] as const;
    const stand = '[image/png: a part of its own]';
    const said = { pictures: [{ data: stand, of: `x${stand}y`, n: 1, none: null }] };
    expect((await messages(chat, ...turns))[2]?.content).toBe(`${JSON.stringify(said)}\n${stand}`);
    const short: ContentPart = { type: 'media', mimeType: 'image/png', data: 'A'.repeat(63) };
    const little = user({ ...result('c', 'f', { a: 'A'.repeat(63) }), content: [short] } as ContentPart);
    expect((await messages(chat, user('hi'), model(call('c', 'f')), little))[2]?.content).toBe(
      JSON.stringify({ a: 'A'.repeat(63) }),
    );
  });

  test('an error is one where there is a word for it', async () => {
    const turns = (more: object) =>
      [
        user('hi'),
        model(call('c', 'f')),
        user({ ...result('c', 'f', { error: 'a' }), ...more } as ContentPart),
      ] as const;
    const block = async (more: object) => listOf((await messages(anthropic, ...turns(more)))[2]?.content)[0];
    expect(await block({ isError: true })).toEqual({
      type: 'tool_result',
      tool_use_id: 'c',
      content: '{"error":"a"}',
      is_error: true,
    });
    expect(await block({})).not.toHaveProperty('is_error');
    const blank = { ...result('c', 'f', { content: ' ' }), content: [png] } as ContentPart;
    const turn = (await messages(anthropic, user('hi'), model(call('c', 'f')), user(blank)))[2];
    const [only] = listOf(turn?.content);
    expect(only?.content).toEqual([expect.objectContaining({ type: 'image' })]);
  });

  test('results stand before whatever else a user says', async () => {
    const mixed = user('first', result('c', 'f', { content: 'a' }), 'last');
    const turns = [user('hi'), model(call('c', 'f')), mixed] as const;
    const kinds = (blocks: unknown) => (blocks as Sent[]).map(({ type }) => type);
    expect(kinds((await messages(anthropic, ...turns))[2]?.content)).toEqual(['tool_result', 'text', 'text']);
    expect((await messages(chat, ...turns)).slice(2).map(({ role }) => role)).toEqual(['tool', 'user']);
    expect(kinds((await input(...turns)).slice(2))).toEqual(['function_call_output', 'message']);
    const parts = (await contentsOf(gemini, ...turns))[2]?.parts as Sent[];
    expect(parts.map((part) => Object.keys(part)[0])).toEqual(['functionResponse', 'text', 'text']);
  });
});
