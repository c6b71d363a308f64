import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ContentPart, DisplayContent, Session } from '../../src/contracts/index.ts';
import { RecentEvents } from '../../src/host/mcp/http/recent-events.ts';
import { HandedCalls } from '../../src/host/mcp/tasks/handed-calls.ts';
import { checkNumbers, hostNames, pagesOf } from '../../src/host/mcp/turn/check-options.ts';
import { toBlocks } from '../../src/host/mcp/turn/content.ts';
import { HeldSessions } from '../../src/host/mcp/turn/held-sessions.ts';
import { previewText } from '../../src/host/mcp/turn/preview-text.ts';
import { visible } from '../../src/session/index.ts';

describe('what an agent said, as the protocol shows it', () => {
  test.each<[string, ContentPart, unknown]>([
    ['text', { type: 'text', text: 'a' }, { type: 'text', text: 'a' }],
    ['no text', { type: 'text', text: '' }, undefined],
    ['a refusal', { type: 'refusal', text: 'no' }, { type: 'text', text: 'no' }],
    ['a thought', { type: 'thought', thought: 'hm' }, undefined],
    [
      'a picture',
      { type: 'media', mimeType: 'image/png', data: 'AQ==' },
      { type: 'image', data: 'AQ==', mimeType: 'image/png' },
    ],
    [
      'sound',
      { type: 'media', mimeType: 'audio/wav', data: 'AQ==' },
      { type: 'audio', data: 'AQ==', mimeType: 'audio/wav' },
    ],
    [
      'other bytes',
      { type: 'media', mimeType: 'a/b', data: 'AQ==' },
      { type: 'resource', resource: { uri: 'coxswain:media', blob: 'AQ==', mimeType: 'a/b' } },
    ],
    [
      'other bytes of a place',
      { type: 'media', mimeType: 'a/b', data: 'AQ==', uri: 'u' },
      { type: 'resource', resource: { uri: 'u', blob: 'AQ==', mimeType: 'a/b' } },
    ],
    [
      'media elsewhere',
      { type: 'media', mimeType: 'a/b', uri: 'u' },
      { type: 'resource_link', uri: 'u', name: 'u', mimeType: 'a/b' },
    ],
    ['media of nothing', { type: 'media', mimeType: 'a/b' }, undefined],
    ['a reference', { type: 'reference', text: 't' }, { type: 'text', text: 't' }],
    [
      'a reference with its place',
      { type: 'reference', text: 't', uri: 'u' },
      { type: 'resource', resource: { uri: 'u', text: 't' } },
    ],
    [
      'a reference with its document',
      { type: 'reference', text: 't', uri: 'u', mimeType: 'a/b', data: 'AQ==' },
      { type: 'resource', resource: { uri: 'u', blob: 'AQ==', mimeType: 'a/b' } },
    ],
    [
      'a citation',
      { type: 'citation', uri: 'u', title: 'T', text: 'x' },
      { type: 'resource_link', uri: 'u', name: 'T' },
    ],
    ['a citation without a title', { type: 'citation', uri: 'u' }, { type: 'resource_link', uri: 'u', name: 'u' }],
    ['a citation of words', { type: 'citation', text: 'x' }, { type: 'text', text: 'x' }],
    ['a citation of nothing', { type: 'citation', title: 'T' }, undefined],
    ['code', { type: 'code', language: 'js', code: '1' }, { type: 'text', text: '```js\n1\n```' }],
    ['what it put out', { type: 'code_result', output: '1' }, { type: 'text', text: '1' }],
    ['a stranger', { type: 'ext:chart' } as unknown as ContentPart, undefined],
  ])('%s', (_, part, block) => {
    expect(toBlocks([part])).toEqual(block === undefined ? [] : [block]);
  });
});

describe('what a person sees before saying yes', () => {
  test.each<[string, DisplayContent[], Record<string, unknown> | undefined, string]>([
    ['the arguments', [], { a: 1 }, '{\n  "a": 1\n}'],
    ['no arguments', [], undefined, '{}'],
    ['text', [{ type: 'text', text: 'a' }], { a: 1 }, 'a'],
    ['a terminal', [{ type: 'terminal', text: 'a' }], {}, 'a'],
    ['a new file', [{ type: 'diff', path: 'p', newText: 'a\nb' }], {}, 'p\n+ a\n+ b'],
    ['a change', [{ type: 'diff', path: 'p', oldText: 'a', newText: 'b' }], {}, 'p\n- a\n+ b'],
    [
      'a table',
      [
        {
          type: 'table',
          columns: ['a', 'b'],
          rows: [
            [1, true],
            [null, 'x'],
          ],
        },
      ],
      {},
      'a | b\n1 | true\nnull | x',
    ],
    [
      'several',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      {},
      'a\nb',
    ],
    ['as much as fits', [{ type: 'text', text: 'x'.repeat(20_000) }], {}, 'x'.repeat(20_000)],
  ])('%s', (_, preview, args, text) => {
    expect(previewText(preview, args)).toEqual({ text });
  });

  test('ATK3-08 a cell of a table that is an object is shown as JSON', () => {
    const table = { type: 'table', columns: ['to', 'eur'], rows: [[{ account: 'evil' }, 7]] } as DisplayContent;
    expect(previewText([table], {})).toEqual({ text: 'to | eur\n{"account":"evil"} | 7' });
  });

  test.each<[string, DisplayContent[], Record<string, unknown>, string]>([
    ['a text', [{ type: 'text', text: 'to anna\u2067bert' }], {}, 'to anna\\u2067bert'],
    ['a path', [{ type: 'diff', path: 'a\u00ad.txt', newText: 'b' }], {}, 'a\\u00ad.txt\n+ b'],
    ['a cell', [{ type: 'table', columns: ['to'], rows: [['x\ufeff']] }], {}, 'to\nx\\ufeff'],
    ['arguments', [], { to: 'x\u{e0041}' }, '{\n  "to": "x\\u{e0041}"\n}'],
  ])('ATK3-08 %s has what nobody sees written out', (_, preview, args, text) => {
    expect(previewText(preview, args)).toEqual({ text });
  });

  test('is no question where it cannot be shown whole', () => {
    const picture: DisplayContent = { type: 'media', mimeType: 'image/png' };
    expect(previewText([{ type: 'text', text: 'a' }, picture], {})).toEqual({
      why: expect.stringContaining('is media'),
    });
  });

  test('hides nothing: what cannot be seen is written out', () => {
    expect(visible('a\r\nb\tc\nd')).toBe('a\nb\tc\nd');
    const unseen = [
      '\u0000',
      '\u0008',
      '\u000b',
      '\r',
      '\u001f',
      '\u007f',
      '\u009f',
      '\u200b',
      '\u200f',
      '\u2028',
      '\u202e',
      '\u2060',
      '\u206f',
      '\ufeff',
    ];
    for (const character of unseen) {
      expect(visible(`a${character}b`)).toBe(`a\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}b`);
    }
    // ATK3-08
    for (const character of [
      ...['\u00ad', '\u034f', '\u061c', '\u115f', '\u17b4', '\u180e', '\u2800', '\u3164', '\uffa0', '\ufff9', '\ufe0f'],
      ...['\u200c', '\u200d', '\u{e0041}', '\u{e0100}', '\u{1d173}', '\ud800'],
    ]) {
      const number = (character.codePointAt(0) ?? 0).toString(16);
      expect(visible(`a${character}b`)).toBe(
        `a${number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, '0')}`}b`,
      );
    }
    const needed = 'क्\u200dष می\u200cخواهم \u2764\ufe0f 1\ufe0f\u20e3 \u{1f469}\u200d\u{1f4bb}';
    expect(visible(needed)).toBe(needed);
    const seen = 'a ~\u00a0é日\u200a\u2010\u2027\u202f\u205f\u2070\u{1f600}';
    expect(visible(seen)).toBe(seen);
  });
});

describe('messages for a client whose stream broke', () => {
  const message = (n: number, size = 1) => ({ jsonrpc: '2.0' as const, method: 'm'.repeat(size), params: { n } });
  const replayed = async (events: RecentEvents, after: string) => {
    const sent: [string, unknown][] = [];
    const streamId = await events.replayEventsAfter(after, {
      send: async (id, sentMessage) => void sent.push([id, (sentMessage as ReturnType<typeof message>).params.n]),
    });
    return [streamId, sent];
  };

  test('are those of its stream that came after the last one it has seen', async () => {
    const events = new RecentEvents(10_000);
    const ids = [];
    for (const [n, stream] of ['a', 'b', 'a', 'a'].entries()) ids.push(await events.storeEvent(stream, message(n)));
    expect(ids).toEqual(['1', '2', '3', '4']);
    expect(await replayed(events, '1')).toEqual([
      'a',
      [
        ['3', 2],
        ['4', 3],
      ],
    ]);
    expect(await replayed(events, '2')).toEqual(['b', []]);
    expect([events.has('4'), events.has('5')]).toEqual([true, false]);
  });

  test('are kept up to a size, the newest whatever its size', async () => {
    const bytes = Buffer.byteLength(JSON.stringify(message(1)));
    const events = new RecentEvents(2 * bytes);
    for (let n = 0; n < 2; n++) await events.storeEvent('a', message(n));
    expect([events.has('1'), events.has('2')]).toEqual([true, true]);
    await events.storeEvent('a', message(2));
    expect([events.has('1'), events.has('2'), events.has('3')]).toEqual([false, true, true]);
    await events.storeEvent('a', message(3, 500));
    expect([events.has('2'), events.has('3'), events.has('4')]).toEqual([false, false, true]);
  });
});

describe('options of a server', () => {
  test('numbers are above 0', () => {
    expect(() => checkNumbers({ a: 1, b: undefined, c: 0.5 }, ['a', 'b', 'c', 'd'])).not.toThrow();
    for (const a of [0, -1, Number.NaN, '1', null]) {
      expect(() => checkNumbers({ a }, ['a'])).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    }
  });

  test('hosts are names, without scheme and port', () => {
    expect(hostNames('o', ['Agents.Example', 'localhost', '127.0.0.1', '[::1]'])).toEqual([
      'agents.example',
      'localhost',
      '127.0.0.1',
      '[::1]',
    ]);
    for (const name of ['a:80', 'http://a', 'a/b', '', 'a b', 'user@a']) {
      expect(() => hostNames('o', [name])).toThrow(`o has ${JSON.stringify(name)}`);
    }
  });

  test('pages are origins, or names', () => {
    expect(pagesOf('o', ['https://App.example', 'http://a:8080', 'b.example'])).toEqual({
      origins: new Set(['https://app.example', 'http://a:8080']),
      names: ['b.example'],
    });
    for (const entry of ['https://a/', 'https://a/b', 'https://a:443', '://', 'x://']) {
      expect(() => pagesOf('o', [entry])).toThrow('an origin is like');
    }
  });
});

describe('sessions that live in memory while their question is away', () => {
  const session = (id: string, closed: string[]) =>
    ({
      id,
      async [Symbol.asyncDispose]() {
        closed.push(id);
      },
    }) as unknown as Session;

  test('ATK6-02 a hundred of one caller and a thousand of all are held; more calls are refused, and an answer makes room', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const closed: string[] = [];
    const held = new HeldSessions(60_000, () => {});
    const places = Array.from({ length: 100 }, (_, n) => {
      const place = held.place('ann');
      held.keep(place, session(`s${n}`, closed));
      return place;
    });
    const full = { status: 'UNAVAILABLE', code: 'E_FULL', details: { retryAfterMs: 1_000 } };
    expect(() => held.place('ann')).toThrow(expect.objectContaining(full));
    expect(held.take(places[7] ?? '')?.id).toBe('s7');
    expect(held.take(places[7] ?? '')).toBeUndefined();
    held.place('ann');
    for (let n = 0; n < 900; n++) held.place(`user ${n % 10}`);
    expect(() => held.place('bert')).toThrow(expect.objectContaining(full));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(closed).toEqual(places.map((_, n) => `s${n}`).filter((id) => id !== 's7'));
    held.place('bert');
  });
});

test('MCT-21 a call that cannot become a task, since its log is away, does not run on behind an error', async () => {
  let ran: AbortSignal | undefined;
  const made = new HandedCalls(10, () => {}).make(
    { mcpReq: { signal: new AbortController().signal, notify: async () => {} } } as never,
    (context, watcher) => {
      ran = context.mcpReq.signal;
      watcher.begun('s', 't');
      return new Promise(() => {});
    },
    { afterMs: 0, owner: 'ann', seed: () => Promise.reject(new Error('the log is away')) },
  );
  await expect(made).rejects.toThrow('the log is away');
  expect(ran?.aborted).toBe(true);
});
