import type { UIMessage, UIMessageChunk } from 'ai';
import { readUIMessageStream, uiMessageChunkSchema } from 'ai';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { AgUiWriter } from '../../src/session/ag-ui/index.ts';
import type { UiMessage, UiMessageChunk } from '../../src/session/ui/index.ts';
import { fromUiMessages, toUiMessageStream, toUiMessages, UiWriter } from '../../src/session/ui/index.ts';
import { all, bot, hostOf, notingTool, policyOf } from '../host/kit.ts';

const isWords = ({ type }: { type: string }) => type === 'text' || type === 'thought';

/** What the AI SDK makes of chunks. */
async function readByThem(chunks: readonly UiMessageChunk[]): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  const stream = ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last;
}

const base = { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 'st', turnId: 't' };
let count = 0;
const event = (members: object): AgentEvent => ({ ...base, id: `e${count++}`, ...members }) as AgentEvent;
const told = (id: string, parts: readonly object[], more: object = {}) =>
  event({ type: 'message', role: 'agent', content: parts, _meta: { messageId: id }, ...more });
const delta = (id: string, part: number, content: object) =>
  event({ type: 'message', role: 'agent', partial: true, content: [content], _meta: { messageId: id, part } });
const end = (reason = 'completed', data: object = {}) => event({ type: 'stream_end', reason, data });
const text = (words: string) => ({ type: 'text', text: words });
const chunksOf = (events: readonly AgentEvent[], options = {}) => {
  const writer = new UiWriter(options);
  return events.flatMap((one) => writer.write(one));
};

describe('a session as the AI SDK shows it', () => {
  test('HTTP-23 the types are those of the AI SDK', () => {
    expectTypeOf<UiMessageChunk>().toExtend<UIMessageChunk>();
    const page = (messages: UIMessage[]) => messages;
    expectTypeOf(page).toBeCallableWith([] as UiMessage[]);
  });

  test('ATK6-01 of more messages or parts than a page needs at a time the words come when the message is whole', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => n);
    const messages = [...many.map((n) => delta(`m${n}`, 0, text('a'))), delta('late', 0, text('a'))];
    const whole = told('late', [text('ab')]);
    const finished = many.map((n) => told(`m${n}`, [text('ab')]));
    const parts = [...many.map((n) => delta('wide', n, text('a'))), delta('wide', 1_000, text('b'))];
    for (const [events, wholes] of [
      [messages, [whole, ...finished]],
      [parts, [told('wide', [...many.map(() => text('a')), text('b')])]],
    ] as const) {
      const grown = chunksOf(events);
      expect(grown.filter(({ type }) => type === 'text-start')).toHaveLength(1_000);
      const page = await readByThem(chunksOf([...events, ...wholes, end()]));
      const words = page?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      expect(words).toHaveLength(1_001);
      expect(words?.join('').length).toBe(wholes.length === 1 ? 1_001 : 2_002);
    }
  });

  test('ATK3-15 the part that asks has what a yes lets run, for whoever waits and for a page that continues, too', async () => {
    const approval = { title: 'Pay?', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' }, remember: [] };
    const question = { requestId: 'c#policy', callId: 'c', kind: 'tool_confirmation', message: 'Pay?', approval };
    const call = event({ type: 'tool_request', requestId: 'c', name: 'pay', args: { eur: 7 }, handledBy: 'host' });
    const asks = event({ type: 'elicitation_request', ...question, args: { eur: 7000 } });
    const page = async (chunks: UiMessageChunk[]) =>
      (await readByThem(chunks))?.parts.filter((part) => 'input' in part);
    expect(await page(chunksOf([call, asks, end('input_required')]))).toMatchObject([
      { type: 'tool-pay', input: { eur: 7000 }, state: 'approval-requested' },
    ]);
    expect(await page(chunksOf([call, asks, end('input_required')], { mayAnswer: () => false }))).toMatchObject([
      { type: 'tool-pay', input: { eur: 7000 }, state: 'input-available' },
    ]);
    const pending = [{ ...question, name: 'pay', args: { eur: 7000 } }];
    const continued = chunksOf([end('input_required', { pending })], { isContinued: true, knownCalls: ['c'] });
    expect(continued.map(({ type }) => type)).toContain('tool-approval-request');
    expect(continued).toContainEqual({
      type: 'tool-input-available',
      toolCallId: 'c',
      toolName: 'pay',
      input: { eur: 7000 },
    });
    // Nothing is said twice where nothing was changed, and where an earlier version does not say what was.
    for (const args of [{ args: { eur: 7 } }, {}]) {
      const chunks = chunksOf([call, event({ type: 'elicitation_request', ...question, ...args })]);
      expect(chunks.map(({ type }) => type)).toEqual([
        'start',
        'start-step',
        'tool-input-available',
        'tool-approval-request',
      ]);
    }
    // Of a call that the page does not have, the question itself says it.
    expect(chunksOf([asks]).at(-1)).toMatchObject({ type: 'data-question', data: { args: { eur: 7000 } } });
  });

  test('HTTP-23 a message that was streamed is not said twice, and what was not streamed of it is', async () => {
    const message = await readByThem(
      chunksOf([
        delta('m', 0, { type: 'thought', thought: 'Hm' }),
        delta('m', 1, text('Hel')),
        delta('m', 1, text('lo')),
        told('m', [
          { type: 'thought', thought: 'Hm.' },
          text('Hello.'),
          { type: 'media', mimeType: 'image/png', data: 'AAAA' },
        ]),
        end(),
      ]),
    );
    expect(message?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'Hello.', state: 'done' },
      { type: 'file', url: 'data:image/png;base64,AAAA' },
    ]);
  });

  test('HTTP-23 words that were changed after they were streamed are marked as withdrawn, and said anew', async () => {
    const message = await readByThem(
      chunksOf([delta('m', 0, text('The secret is x.')), told('m', [text('[hidden]')]), end()]),
    );
    expect(message?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'The secret is x.', providerMetadata: { coxswain: { withdrawn: true } } },
      { type: 'text', text: '[hidden]' },
    ]);
  });

  test.each([
    ['javascript:alert(1)'],
    ['JaVaScRiPt:alert(1)'],
    ['data:text/html,<script>alert(1)</script>'],
    ['file:///etc/passwd'],
    ['vbscript:x'],
    [' javascript:alert(1)'],
    ['//evil.example/x'],
  ])('HTTP-25 the address %j of a model is not sent as a link or a file', (uri) => {
    const chunks = chunksOf([
      told('m', [
        { type: 'citation', uri },
        { type: 'media', mimeType: 'image/png', uri },
      ]),
      end(),
    ]);
    expect(chunks.filter(({ type }) => type === 'file' || type === 'source-url')).toEqual([]);
  });

  test.each(['image/svg+xml', 'text/html', 'application/xhtml+xml', 'text/html;charset=x', 'image/png,<script>'])(
    'HTTP-25 sibling: a file of type %j, which could run in a page, is told of and not sent',
    (mimeType) => {
      const chunks = chunksOf([told('m', [{ type: 'media', mimeType, data: 'AAAA' }]), end()]);
      expect(chunks.filter(({ type }) => type === 'file')).toEqual([]);
      expect(chunks).toContainEqual({ type: 'data-media', data: { mediaType: mimeType } });
    },
  );

  test('HTTP-24 a result of an earlier turn, and one that nobody asked for, end no page', async () => {
    const message = await readByThem(
      chunksOf([event({ type: 'tool_response', requestId: 'old', name: 'pay', content: [text('paid')] }), end()]),
    );
    expect(message?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'tool-pay', state: 'output-available', output: 'paid' },
    ]);
  });

  test.each([
    ['completed', {}, { type: 'finish', finishReason: 'stop' }],
    ['completed', { truncated: true }, { type: 'finish', finishReason: 'length' }],
    ['failed', {}, { type: 'finish', finishReason: 'error' }],
    ['refusal', {}, { type: 'finish', finishReason: 'content-filter' }],
    ['max_budget', {}, { type: 'finish', finishReason: 'other', messageMetadata: { reason: 'max_budget' } }],
    ['a word of tomorrow', {}, { type: 'finish', finishReason: 'other' }],
    ['aborted', { reason: 'stopped' }, { type: 'abort', reason: 'stopped' }],
  ])('HTTP-23 a turn that ends as %s (%j) says so', (reason, data, last) => {
    expect(chunksOf([end(reason, data)]).at(-1)).toMatchObject(last);
  });

  test('HTTP-23 a stream that is refused is an error of the page, and one that fails says nothing of its inside', async () => {
    const { host } = hostOf(bot(['x']));
    const session = await host.open('bot', { sessionId: 's', create: true });
    const refused = await all(toUiMessageStream(session.stream({ kind: 'message', content: 5 } as never)));
    expect(refused).toEqual([{ type: 'error', errorText: expect.stringContaining('E_BAD_INPUT') }]);
    const failing = (async function* () {
      yield told('m', [text('x')]);
      throw new Error('password hunter2');
    })();
    expect((await all(toUiMessageStream(failing))).at(-1)).toEqual({
      type: 'error',
      errorText: 'E_INTERNAL: the turn failed',
    });
    await host.close();
  });

  test('HTTP-23 who stops to read ends the stream of the agent', async () => {
    let isLeft = false;
    const events = (async function* () {
      try {
        for (;;) yield delta('m', 0, text('x'));
      } finally {
        isLeft = true;
      }
    })();
    for await (const _ of toUiMessageStream(events)) break;
    expect(isLeft).toBe(true);
  });

  test('HTTP-24 a question of an agent is told as answered, and one to run again is shown', () => {
    const asked = { requestId: 'c#0', kind: 'clarification', message: 'Which?', callId: 'c' };
    const call = event({ type: 'tool_request', requestId: 'c', name: 'pay', args: {}, handledBy: 'agent' });
    const answered = event({ type: 'elicitation_response', requestId: 'c#0', action: 'accept', content: {} });
    const chunks = chunksOf([call, event({ type: 'elicitation_request', ...asked }), answered, answered]);
    expect(chunks.filter(({ type }) => type === 'data-question')).toEqual([
      { type: 'data-question', id: 'c#0', data: { requestId: 'c#0', kind: 'clarification', message: 'Which?' } },
      { type: 'data-question', id: 'c#0', data: { requestId: 'c#0', answer: 'accept' } },
    ]);
    const pending = [{ ...base, requestId: 'c#rerun', kind: 'rerun_unknown', callId: 'c', message: 'Again?' }];
    expect(chunksOf([call, end('input_required', { pending })])).toContainEqual(
      expect.objectContaining({ type: 'data-question', id: 'c#rerun' }),
    );
  });

  test('HTTP-26 sibling: a question that is all there is of a turn is in the messages of a reload', () => {
    const stored = [told('m', [text('x')], { role: 'user', turnId: 'old' }), end('input_required')];
    const [, message] = toUiMessages(stored, [{ requestId: 'q', turnId: 't', kind: 'elicitation' }]);
    expect(message?.parts).toMatchObject([{ type: 'step-start' }, { type: 'data-question', id: 'q' }]);
  });

  test('HTTP-26 sibling: what was taken back is in no messages, at a cost in proportion to the events', () => {
    const events = Array.from({ length: 20_000 }, (_, at) => [
      told(`m${at}`, [text(String(at))], { seq: 1 + at * 2, turnId: `t${at}` }),
      event({ type: 'custom', kind: 'rewound', data: { through: at * 2 }, seq: 2 + at * 2 }),
    ]).flat();
    const kept = told('last', [text('kept')], { seq: 50_000, turnId: 'last' });
    expect(toUiMessages([...events, kept]).map(({ id }) => id)).toEqual(['last']);
  });

  test('HTTP-24 a handler of one’s own: a request is read, its answers are given, the turn goes on in the same message', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot', { sessionId: 's', create: true });
    const first = fromUiMessages({ id: 's', messages: [{ id: 'm', role: 'user', parts: [text('pay')] }] });
    const asked = await readByThem(
      await all(toUiMessageStream(session.stream(first.message?.input ?? 'none'), { request: first })),
    );
    const [part] = asked?.parts.filter(({ type }) => type === 'tool-pay') ?? [];
    expect(part).toMatchObject({ state: 'approval-requested' });
    const approval = { ...(part as { approval: object }).approval, approved: true };
    const second = fromUiMessages({
      id: 's',
      messages: [{ ...asked, parts: [{ ...part, state: 'approval-responded', approval }] }],
    });
    for (const { requestId, answer } of second.answers) await session.respond(requestId, answer);
    const chunks = await all(toUiMessageStream(session.stream({ kind: 'continue' }), { request: second }));
    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(chunks[0]).toEqual({ type: 'start' });
    expect(pay.runs).toHaveLength(1);
    await host.close();
  });

  test.each([
    [
      { answers: { q: { action: 'accept', content: { city: 'Rome' } } } },
      [{ requestId: 'q', answer: { kind: 'elicitation', action: 'accept', content: { city: 'Rome' } } }],
    ],
    [
      { answers: { q: { action: 'decline' } } },
      [{ requestId: 'q', answer: { kind: 'elicitation', action: 'decline' } }],
    ],
  ])('HTTP-24 sibling: answers to other questions are read: %j', (more, answers) => {
    expect(fromUiMessages({ id: 's', messages: [{ id: 'a', role: 'assistant', parts: [] }], ...more }).answers).toEqual(
      answers,
    );
  });

  test.each([
    [{ answers: [] }],
    [{ answers: { q: 'accept' } }],
    [{ answers: { q: { action: 'yes' } } }],
    [{ answers: { q: { action: 'accept', content: 'x' } } }],
  ])('HTTP-25 an answer that is none is refused: %j', (more) => {
    const body = { id: 's', messages: [{ id: 'a', role: 'assistant', parts: [] }], ...more };
    expect(() => fromUiMessages(body)).toThrow(/chat request: /);
  });

  test.each([true, false, 'yes', 1, undefined, null, {}])('HTTP-25 only true is an approval: %j', (approved) => {
    const approval = { id: `q@${'0'.repeat(64)}`, approved };
    const [given] = fromUiMessages({
      id: 's',
      messages: [{ id: 'a', role: 'assistant', parts: [{ state: 'approval-responded', approval }] }],
    }).answers;
    expect(given?.answer.kind).toBe(approved === true ? 'approve' : 'deny');
  });

  test('HTTP-23 HTTP-26 whatever an agent says, a page can read it, and a reload shows what the stream has shown', async () => {
    const words = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' });
    const part = fc.oneof(
      words.map(text),
      words.map((thought) => ({ type: 'thought', thought })),
      words.map((output) => ({ type: 'code_result', output })),
      words.map((uri) => ({ type: 'citation', uri: `https://x.example/${encodeURIComponent(uri)}` })),
      fc.constant({ type: 'of tomorrow' }),
    );
    const step = fc.record({
      parts: fc.array(part, { maxLength: 4 }),
      calls: fc.array(words, { maxLength: 3 }),
      result: fc.constantFrom('ok', 'denied', 'failed', 'none'),
      isStreamed: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), async (steps) => {
        const live: AgentEvent[] = [];
        const stored: AgentEvent[] = [];
        const both = (one: AgentEvent) => {
          live.push(one);
          stored.push(one);
        };
        for (const [at, { parts: drawn, calls, result, isStreamed }] of steps.entries()) {
          // What is not streamed of a message stands behind its words in a page that has seen them come.
          const parts = drawn.toSorted((a, b) => Number(!isWords(a)) - Number(!isWords(b)));
          for (const [index, one] of isStreamed ? parts.entries() : []) {
            const { type, ...rest } = one as { type: string; text?: string; thought?: string };
            const whole = rest.text ?? rest.thought;
            if (whole === undefined) continue;
            const key = type === 'text' ? 'text' : 'thought';
            for (const piece of [whole.slice(0, 2), whole.slice(2)])
              if (piece !== '') live.push(delta(`m${at}`, index, { type, [key]: piece }));
          }
          both(told(`m${at}`, parts));
          for (const [index, name] of calls.entries())
            both(event({ type: 'tool_request', requestId: `c${at}.${index}`, name, args: { at }, handledBy: 'host' }));
          for (const [index, name] of result === 'none' ? [] : calls.entries()) {
            both(
              event({
                type: 'tool_response',
                requestId: `c${at}.${index}`,
                name,
                content: [text(result)],
                ...(result === 'ok' ? {} : { isError: true, errorType: result }),
              }),
            );
          }
        }
        both(end());
        const chunks = chunksOf(live);
        const { validate } = uiMessageChunkSchema();
        for (const chunk of chunks) expect(await validate?.(chunk)).toMatchObject({ success: true });
        const byThem = await readByThem(chunks);
        const [message] = toUiMessages(stored);
        const plain = (parts: readonly object[] = []) => JSON.parse(JSON.stringify(parts)) as Record<string, unknown>[];
        const comparable = (parts: readonly object[] | undefined) =>
          plain(parts).map(({ id: _, rawInput: __, approval: ___, ...rest }) => rest);
        expect(comparable(message?.parts)).toEqual(comparable(byThem?.parts));
      }),
      { numRuns: 60, seed: 20261129 },
    );
  });
});

describe('what a stream of a page keeps', () => {
  const base = { sessionId: 's', streamId: 'x', turnId: 't', timestamp: '2026-11-30T12:00:00Z' };
  const words = (n: number, text: string, partial: boolean) =>
    ({
      ...{ ...base, type: 'message', role: 'agent', id: `e${n}`, partial, content: [{ type: 'text', text }] },
      _meta: { messageId: `m${n}`, part: 0 },
    }) as never;
  const asked = (n: number, a: string) =>
    ({ ...base, type: 'tool_request', id: `e${n}`, requestId: `c${n}`, name: 'pay', args: { a } }) as never;
  const mega = 'x'.repeat(1024 * 1024);

  test.each([
    ['the AI SDK', () => new UiWriter()],
    ['AG-UI', () => new AgUiWriter({ threadId: 't', runId: 'r' })],
  ])('ATK7-11 words that grow are kept up to a bound; beyond it each message is shown once, whole: %s', (_, make) => {
    const writer = make();
    const deltas = (event: never) =>
      writer
        .write(event)
        .flatMap((one) => ('delta' in one && typeof one.delta === 'string' ? [one.delta] : []))
        .join('');
    for (let n = 0; n < 4; n++) expect(deltas(words(n, mega, true))).toBe(mega);
    expect(deltas(words(4, 'too much', true))).toBe('');
    // What has come of it is the beginning of what is whole.
    expect(deltas(words(0, `${mega} and more`, false))).toBe(' and more');
    // Room that was given back is not for words with a hole in them.
    expect(deltas(words(4, ', and then', true))).toBe('');
    expect(deltas(words(4, 'too much, and then', false))).toBe('too much, and then');
  });

  test('ATK7-11 words of messages that become whole one after the other are not counted together', () => {
    const writer = new UiWriter();
    for (let n = 0; n < 9; n++) {
      expect(writer.write(words(n, mega, true)).some(({ type }) => type === 'text-delta')).toBe(true);
      writer.write(words(n, mega, false));
    }
  });

  test('ATK7-12 of calls whose arguments are too many to be kept the newest are; of another one they are sent again with its question', () => {
    const writer = new UiWriter();
    for (let n = 0; n < 6; n++) writer.write(asked(n, mega));
    const question = (n: number) => ({
      ...{ requestId: `c${n}#policy`, callId: `c${n}`, name: 'pay', args: { a: mega } },
      approval: { title: 'pay', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' } } as never,
    });
    expect(writer.ask(question(5)).map(({ type }) => type)).toEqual(['tool-approval-request']);
    expect(writer.ask(question(0)).map(({ type }) => type)).toEqual(['tool-input-available', 'tool-approval-request']);
  });

  const question = (n: number, a: string, requestId = `c${n}#policy`) => ({
    ...{ requestId, callId: `c${n}`, name: 'pay', args: { a } },
    approval: { title: 'pay', preview: [], previewDigest: 'd', requestedBy: { id: 'ann' } } as never,
  });

  test('ATK7-12 arguments that are too large by themselves are sent again with their question, and cost what comes behind them nothing', () => {
    const writer = new UiWriter();
    const types = (n: number, a: string) => writer.ask(question(n, a)).map(({ type }) => type);
    const large = mega.repeat(5);
    writer.write(asked(1, large));
    writer.write(asked(2, 'small'));
    expect(types(2, 'small')).toEqual(['tool-approval-request']);
    expect(types(1, large)).toEqual(['tool-input-available', 'tool-approval-request']);
  });

  test('ATK7-12 of one call whose arguments are edited again and again the last ones alone are counted', () => {
    const writer = new UiWriter();
    writer.write(asked(1, 'small'));
    writer.write(asked(2, mega));
    for (let n = 0; n < 9; n++) {
      const edited = writer.ask(question(2, `${mega}${n}`, `c2#policy.${n}`));
      expect(edited.map(({ type }) => type)).toEqual(['tool-input-available', 'tool-approval-request']);
    }
    expect(writer.ask(question(1, 'small')).map(({ type }) => type)).toEqual(['tool-approval-request']);
  });
});
