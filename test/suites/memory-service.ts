import { afterEach, describe, expect, test } from 'vitest';
import type { MemoryService, SessionKey, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';

const key: SessionKey = { app: 'app', userId: 'u1', id: 's1' };

function said(text: string, at = 0, author = 'user'): StoredEvent {
  return createEvent({ author, timestamp: at, content: { role: 'user', parts: [{ type: 'text', text }] } });
}

/** What every memory service keeps. */
export function memoryServiceSuite(
  name: string,
  make: () => Promise<{ service: MemoryService; reopen?: () => Promise<MemoryService>; close: () => Promise<void> }>,
): void {
  describe(`memory: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    const fresh = async () => {
      const made = await make();
      closers.push(made.close);
      return made;
    };
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    const found = async (service: MemoryService, query: string, scope = key) =>
      (await service.search(scope, query)).map((entry) => entry.content);

    test('S0-69 finds by whole words, whatever their case, within (app, user) only', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('The quick Brown fox'), said('brownish things')]);
      expect(await found(service, 'BROWN')).toEqual(['The quick Brown fox']);
      expect(await found(service, 'row')).toEqual([]);
      expect(await found(service, 'brown', { ...key, userId: 'u2' })).toEqual([]);
      expect(await found(service, 'brown', { ...key, app: 'other' })).toEqual([]);
      expect(await found(service, 'brown', { ...key, id: 's9' })).toEqual(['The quick Brown fox']);
    });

    test('SOAK-10 erase forgets one session, or all of a user, and nobody else’s', async () => {
      const { service } = await fresh();
      const keys = [key, { ...key, id: 's2' }, { ...key, userId: 'u2' }, { ...key, app: 'other' }];
      for (const one of keys) await service.addSession(one, [said(`brown ${one.id}`)]);
      await service.erase?.(key);
      expect(await found(service, 'brown')).toEqual(['brown s2']);
      await service.erase?.({ app: key.app, userId: key.userId });
      expect(await found(service, 'brown')).toEqual([]);
      for (const one of keys.slice(2)) expect(await found(service, 'brown', one)).toEqual(['brown s1']);
      await expect(service.erase?.({ app: key.app, userId: '../u' })).rejects.toMatchObject({ code: 'E_ID' });
    });

    test('S0-69 adding a session again replaces what was known of it', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('old words')]);
      await service.addSession(key, [said('new words')]);
      expect(await found(service, 'words')).toEqual(['new words']);
      expect(await found(service, 'old')).toEqual([]);
    });

    test.each(['', '   ', '?!'])('S0-69 a query without words (%j) finds nothing', async (query) => {
      const { service } = await fresh();
      await service.addSession(key, [said('anything ?!')]);
      expect(await service.search(key, query)).toEqual([]);
    });

    test('S0-70 an entry tells content, author and time', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('hello there', 1_700_000_000_000, 'helper')]);
      expect(await service.search(key, 'hello')).toEqual([
        { content: 'hello there', author: 'helper', timestamp: '2023-11-14T22:13:20.000Z' },
      ]);
    });

    test.each([
      ['私の名前は太郎です', '太郎'],
      ['Меня зовут Алексей', 'алексей'],
      ['제 이름은 민수', '민수'],
      ['ผมชื่อสมชายครับ', 'สมชาย'],
      ['Straße in Köln', 'STRASSE'],
      ['ﬁne print', 'fine'],
      ['café', 'café'],
      ['हिन्दी में लिखा', 'हिन्दी'],
      ['مرحبا بالعالم', 'مرحبا'],
      ['room 101', '１０１'],
      ['GROẞE STRAẞE', 'straße'],
      ['ΟΔΟΣ', 'οδος'],
      ['οδός.', 'ΟΔΌΣ’'],
      ['İstanbul', 'istanbul'],
      ['istanbul', 'İSTANBUL'],
      ['Isparta', 'ısparta'],
      ['क्‍षमा', 'क्षमा'],
      ['می‌خواهم', 'میخواهم'],
      ['Donau\u00adschiff', 'donauschiff'],
      ['ភាសា\u200bខ្មែរ', 'ភាសាខ្មែរ'],
      ['ภาษาไทย', 'ภาษา\u200bไทย'],
      ['ພາສາລາວ', 'ລາວ'],
      ['မြန်မာစာ', 'မြန်မာ'],
      ['hidden\u200bspace', 'space'],
      ['私はPythonが好きです', 'python'],
      ['我有iPhone15手机', 'IPHONE15'],
      ['第15回大会', '15'],
      ['BTS는 좋아', 'bts'],
      ['party 🎉🎂', '🎂'],
      ['thanks 👍🏽', '👍'],
      ['love ❤️', '❤'],
      ['from 🇫🇷🇩🇪', '🇩🇪'],
    ])('F46 finds in %j by %j', async (text, query) => {
      const { service } = await fresh();
      await service.addSession(key, [said('something else'), said(text)]);
      expect(await found(service, query)).toEqual([text]);
    });

    test('F46 a sentence of a script without spaces finds what shares words with it; who has it whole comes first', async () => {
      const { service } = await fresh();
      const texts = ['私の名前は太郎です', '明日は雨です', '我最喜欢的颜色是蓝色', '颜色', 'ผมชื่อสมชายครับ'];
      await service.addSession(
        key,
        texts.map((one, n) => said(one, n)),
      );
      expect((await found(service, '私の名前は何ですか'))[0]).toBe('私の名前は太郎です');
      expect(await found(service, '我最喜欢的颜色是什么')).toEqual(['我最喜欢的颜色是蓝色', '颜色']);
      expect((await found(service, '最喜欢的颜色'))[0]).toBe('我最喜欢的颜色是蓝色');
      expect(await found(service, 'คุณชื่ออะไร')).toEqual(['ผมชื่อสมชายครับ']);
      expect(await found(service, '太郎')).toEqual(['私の名前は太郎です']);
    });

    test('F46 a flag is not found in the letters of two others, nor a Latin word in a longer one', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('flags 🇫🇷 🇩🇪'), said('Pythonistaが好き')]);
      for (const nothing of ['🇷🇩', 'python', '$ + #', '\u200d\u200b'])
        expect(await found(service, nothing)).toEqual([]);
    });

    test('what a rewind has cut and what agents ask of one another is not what people said', async () => {
      const { service } = await fresh();
      const log = [
        said('kept apples'),
        said('cut apples'),
        createEvent({ author: 'user', actions: { rewound: { through: 1 } } }),
      ];
      log.push({ ...said('asked apples'), iso: '/c1' }, { ...said('told apples', 0, 'expert'), iso: '/c1' });
      for (const [n, event] of log.entries()) event.seq = n + 1;
      await service.addSession(key, log);
      expect(await found(service, 'apples')).toEqual(['kept apples', 'told apples']);
    });

    test('a query of any length is looked at as far as its first 1000 words', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('first'), said('雨 last')]);
      const han = Array.from({ length: 20_000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join('');
      expect(await found(service, `first ${han} last`)).toEqual(['first']);
      expect(await found(service, `${'👍🏽'.repeat(50_000)} last`)).toEqual(['雨 last']);
      expect(await found(service, `${'क्‍'.repeat(50_000)} last`)).toEqual(['雨 last']);
    });

    test('most query words first, then newest; at most 20 unless told', async () => {
      const { service } = await fresh();
      await service.addSession(key, [said('red', 1), said('red blue', 2), said('blue', 3), said('green red', 4)]);
      expect(await found(service, 'red blue')).toEqual(['red blue', 'green red', 'blue', 'red']);
      await service.addSession(
        { ...key, id: 's2' },
        Array.from({ length: 30 }, (_, n) => said(`many ${n}`, n)),
      );
      expect(await service.search(key, 'many')).toHaveLength(20);
      expect((await service.search(key, 'many', { limit: 3 })).map((entry) => entry.content)).toEqual([
        'many 29',
        'many 28',
        'many 27',
      ]);
    });

    test('equals come in the order in which their sessions were added, and as they were said', async () => {
      const { service } = await fresh();
      const of = (id: string) => ({ ...key, id });
      for (const id of ['s3', 's1', 's2'])
        await service.addSession(of(id), [said(`${id} same`), said(`${id} same too`)]);
      await service.addSession(of('s3'), [said('s3 same')]);
      expect(await found(service, 'same')).toEqual(['s1 same', 's1 same too', 's2 same', 's2 same too', 's3 same']);
      await expect(service.search(key, 'same', { limit: -1 })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      expect(await service.search(key, 'same', { limit: 0 })).toEqual([]);
    });

    test('F46 texts that databases spoil come back as they were; wildcards and quotes are no more than text', async () => {
      const { service } = await fresh();
      const texts = [
        'nul \u0000 odd',
        'lone \ud800 odd',
        '"quoted" odd',
        'ends odd ',
        "it's odd; --",
        '100% o_d odd',
        '🚣🏽 odd',
      ];
      await service.addSession(
        key,
        texts.map((one, n) => said(one, 9 - n, 'Ann "\u0000"')),
      );
      expect(await found(service, 'ODD')).toEqual(texts);
      expect((await service.search(key, 'odd'))[0]?.author).toBe('Ann "\u0000"');
      for (const nothing of ['%', '_', 'od_', "'"]) expect(await found(service, nothing)).toEqual([]);
      expect(await found(service, '100')).toEqual(['100% o_d odd']);
    });

    test('a session of many words and a query of many words', async () => {
      const { service } = await fresh();
      const many = Array.from({ length: 3000 }, (_, n) => `w${n}`);
      await service.addSession(
        key,
        Array.from({ length: 300 }, (_, n) => said(many.slice(n * 10, n * 10 + 11).join(' '), n)),
      );
      await service.addSession({ ...key, id: 'one' }, [said(many.join(' ')), said('x'.repeat(5000))]);
      expect((await found(service, many.join(' ')))[0]).toBe(many.join(' '));
      expect(await found(service, 'x'.repeat(5000))).toHaveLength(1);
      // Every entry that shares a border word.
      expect(await found(service, 'w10')).toHaveLength(3);
    });

    test('thoughts, calls and results are not remembered', async () => {
      const { service } = await fresh();
      const parts = [
        { type: 'thought' as const, thought: 'secret' },
        { type: 'function_call' as const, id: 'c', name: 'secret', args: {} },
      ];
      await service.addSession(key, [createEvent({ author: 'a', content: { role: 'model', parts } })]);
      expect(await found(service, 'secret')).toEqual([]);
    });

    test('F45 F47 refuses unsafe ids', async () => {
      const { service } = await fresh();
      await expect(service.addSession({ ...key, userId: '../b' }, [])).rejects.toMatchObject({ code: 'E_ID' });
      await expect(service.search({ app: 'a', userId: 'u1/sessions/s2' }, 'x')).rejects.toMatchObject({ code: 'E_ID' });
    });

    test('is there after a restart', async (context) => {
      const { service, reopen } = await fresh();
      if (!reopen) return context.skip('lives in memory');
      await service.addSession(key, [said('kept words')]);
      expect(await found(await reopen(), 'kept')).toEqual(['kept words']);
    });
  });
}
