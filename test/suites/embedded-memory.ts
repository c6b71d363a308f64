import { afterEach, describe, expect, test } from 'vitest';
import type { SqlMemoryService } from '../../src/adapters/stores/sql/index.ts';
import type { SessionKey, StoredEvent } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';

const key: SessionKey = { app: 'app', userId: 'u1', id: 's1' };

function said(text: string, at = 0): StoredEvent {
  return createEvent({ author: 'user', timestamp: at, content: { role: 'user', parts: [{ type: 'text', text }] } });
}

/** Directions of meaning, by words that stand for them. */
const meanings: readonly (readonly string[])[] = [
  ['cat', 'kitten', 'feline'],
  ['car', 'lorry', 'vehicle'],
  ['cheese', 'gouda'],
];

const vectorOf = (text: string) => meanings.map((words) => words.filter((word) => text.includes(word)).length);

/** What a memory keeps and finds by vectors. */
export function embeddedMemorySuite(
  name: string,
  make: () => Promise<{
    service: SqlMemoryService;
    reopen?: () => Promise<SqlMemoryService>;
    close: () => Promise<void>;
  }>,
): void {
  describe(`memory by meaning: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    async function fresh(more: object = {}) {
      const made = await make();
      closers.push(made.close);
      const asked: string[][] = [];
      const warned: string[] = [];
      const options = {
        name: 'test-1',
        embed: async (texts: readonly string[]): Promise<readonly ArrayLike<number>[]> => {
          asked.push([...texts]);
          return texts.map(vectorOf);
        },
        warn: (message: string) => void warned.push(message),
        ...more,
      };
      return { ...made, asked, warned, options, memory: made.service.withEmbeddings(options) };
    }
    const found = async (memory: SqlMemoryService, query: string, limit?: number, scope = key) =>
      (await memory.search(scope, query, limit === undefined ? {} : { limit })).map(({ content }) => content);

    test('VEC-1 finds what means the same and shares no word; what is in both rankings comes first; nobody else’s', async () => {
      const { memory, service } = await fresh();
      await memory.addSession(key, [said('my kitten sleeps'), said('the lorry is red'), said('a feline and a word')]);
      expect(await found(memory, 'where is the cat')).toEqual(expect.arrayContaining(['my kitten sleeps']));
      expect(await found(memory, 'vehicle')).toEqual(['the lorry is red']);
      // Two have the meaning, one of these the word as well.
      expect(await found(memory, 'cat word')).toEqual(['a feline and a word', 'my kitten sleeps']);
      expect(await found(memory, 'cat word', 1)).toEqual(['a feline and a word']);
      expect(await found(memory, 'cat', 9, { ...key, userId: 'u2' })).toEqual([]);
      // Without vectors it is searched as before.
      expect(await found(service, 'cat')).toEqual([]);
      expect(await found(service, 'lorry')).toEqual(['the lorry is red']);
    });

    test('VEC-2 only new texts of a session are embedded; after a restart vectors are there', async () => {
      const { memory, reopen, asked, options } = await fresh();
      await memory.addSession(key, [said('my kitten'), said('my kitten')]);
      await memory.addSession(key, [said('my kitten'), said('a lorry')]);
      expect(asked).toEqual([['my kitten'], ['a lorry']]);
      const later = reopen ? (await reopen()).withEmbeddings(options) : memory;
      expect(await found(later, 'cat')).toEqual(['my kitten']);
    });

    test('VEC-3 what is erased, or added without vectors, or of another model, is not found by them', async () => {
      const { memory, service, options } = await fresh();
      const other = { ...key, id: 's2' };
      await memory.addSession(key, [said('my kitten')]);
      await memory.addSession(other, [said('a feline')]);
      expect(await found(service.withEmbeddings({ ...options, name: 'test-2' }), 'cat')).toEqual([]);
      await service.addSession(other, [said('a feline')]);
      expect(await found(memory, 'cat')).toEqual(['my kitten']);
      await memory.erase(key);
      expect(await found(memory, 'cat')).toEqual([]);
    });

    test('VEC-4 the newest entries are compared, as many as are wanted, and what is hardly alike is not found', async () => {
      const { memory, service, options } = await fresh();
      for (const [at, text] of ['a kitten', 'one feline', 'cat and gouda, lorry'].entries())
        await memory.addSession({ ...key, id: `s${at}` }, [said(text, at)]);
      expect(await found(memory, 'feline')).toHaveLength(3);
      expect(await found(service.withEmbeddings({ ...options, minSimilarity: 0.9 }), 'gouda')).toEqual([
        'cat and gouda, lorry',
      ]);
      const few = service.withEmbeddings({ ...options, maxEntries: 2 });
      expect(await found(few, 'cat')).toEqual(expect.not.arrayContaining(['a kitten']));
      const many = Array.from({ length: 600 }, (_, at) => said(`lorry ${at}`, at));
      await memory.addSession({ ...key, id: 'many' }, many);
      expect(await found(memory, 'kitten')).toContain('one feline');
    });

    test('VEC-5 where no vector comes a session is not added, and what was there stays; a search goes by words, and says so', async () => {
      let broken: unknown;
      const embed = async (texts: readonly string[]) => {
        if (broken instanceof Error) throw broken;
        return (broken ?? texts.map(vectorOf)) as number[][];
      };
      const { memory, warned } = await fresh({ embed });
      await memory.addSession(key, [said('my kitten')]);
      for (const wrong of [new Error('no model today'), [], [[Number.NaN]], [['x']], 'words', [[]]]) {
        broken = wrong;
        const adding = memory.addSession(key, [said('a lorry')]);
        if (wrong instanceof Error) await expect(adding).rejects.toBe(wrong);
        else await expect(adding).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
        expect(await found(memory, 'kitten')).toEqual(['my kitten']);
      }
      expect(warned).toHaveLength(6);
      expect(warned[0]).toContain('no model today');
    });

    test('VEC-6 one that never answers is given up; options that are none are refused', async () => {
      const signals: AbortSignal[] = [];
      const embed = (_: readonly string[], { signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        return new Promise<number[][]>(() => {});
      };
      const { memory, service, options, warned } = await fresh({ embed, timeoutMs: 5 });
      await service.addSession(key, [said('my kitten')]);
      expect(await found(memory, 'kitten')).toEqual(['my kitten']);
      expect([signals[0]?.aborted, warned]).toEqual([true, [expect.stringContaining('within 5 ms')]]);
      for (const wrong of [
        {},
        { ...options, name: '' },
        { ...options, embed: 'x' },
        { ...options, name: 'x'.repeat(65) },
      ])
        expect(() => service.withEmbeddings(wrong as never)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    });
  });
}
