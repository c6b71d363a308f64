import { afterEach, describe, expect, test } from 'vitest';
import type { ArtifactService, SessionKey } from '../../src/runtime/index.ts';

const key: SessionKey = { app: 'app', userId: 'u1', id: 's1' };
const text = (value: string) => ({ mimeType: 'text/plain', data: new TextEncoder().encode(value) });
const read = (data: string) => Buffer.from(data, 'base64').toString('utf8');

/** What every artifact service keeps. */
export function artifactServiceSuite(
  name: string,
  make: () => Promise<{
    service: ArtifactService;
    reopen?: () => Promise<ArtifactService>;
    close: () => Promise<void>;
  }>,
): void {
  describe(`artifacts: ${name}`, () => {
    const closers: (() => Promise<void>)[] = [];
    const fresh = async () => {
      const made = await make();
      closers.push(made.close);
      return made;
    };
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });

    test('S0-72 versions count from 1, 0 and none mean the latest', async () => {
      const { service } = await fresh();
      expect(await service.save(key, 'a.txt', text('one'))).toBe(1);
      expect(await service.save(key, 'a.txt', text('two'))).toBe(2);
      expect(await service.versions(key, 'a.txt')).toEqual([2, 1]);
      const latest = await service.load(key, 'a.txt');
      expect(latest).toMatchObject({ mimeType: 'text/plain', version: 2 });
      expect(read(latest?.data ?? '')).toBe('two');
      expect(read((await service.load(key, 'a.txt', 0))?.data ?? '')).toBe('two');
      expect(read((await service.load(key, 'a.txt', 1))?.data ?? '')).toBe('one');
      expect(await service.load(key, 'a.txt', 9)).toBeUndefined();
      expect(await service.load(key, 'none.txt')).toBeUndefined();
    });

    test('WS-90 how large one is, is said without its body, where the service can', async (context) => {
      const { service } = await fresh();
      if (!service.measure) return context.skip('it loads it to know');
      await service.save(key, 'a.bin', { mimeType: 'image/png', data: new Uint8Array(70_000) });
      await service.save(key, 'a.bin', text('ä'));
      await service.save(key, 'user:mine', text(''));
      expect(await service.measure(key, 'a.bin')).toEqual({ mimeType: 'text/plain', size: 2, version: 2 });
      expect(await service.measure(key, 'a.bin', 1)).toEqual({ mimeType: 'image/png', size: 70_000, version: 1 });
      expect(await service.measure({ ...key, id: 's2' }, 'user:mine')).toMatchObject({ size: 0 });
      for (const version of [3, 2 ** 40]) expect(await service.measure(key, 'a.bin', version)).toBeUndefined();
      expect(await service.measure(key, 'none')).toBeUndefined();
      await service.delete(key, 'a.bin', 2);
      expect(await service.measure(key, 'a.bin')).toMatchObject({ version: 1 });
      await expect(service.measure(key, '../a')).rejects.toMatchObject({ code: 'E_ID' });
      await expect(service.measure(key, 'a.bin', 0.5)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    });

    test('SOAK-10 erase removes the files of one session, or all of a user, and nobody else’s', async () => {
      const { service } = await fresh();
      const called = { ...key, id: 'user' };
      const others = [
        { ...key, userId: 'u2' },
        { ...key, app: 'other' },
      ];
      for (const one of [key, called, ...others]) await service.save(one, 'a', text('x'));
      await service.save(key, 'user:mine', text('x'));
      await service.erase?.(key);
      expect(await service.list(key)).toEqual(['user:mine']);
      // The user's own files are no files of a session that is called so.
      await service.erase?.(called);
      expect(await service.list(called)).toEqual(['user:mine']);
      await service.save(called, 'b', text('x'));
      await service.erase?.({ app: key.app, userId: key.userId });
      expect([await service.list(key), await service.list(called)]).toEqual([[], []]);
      for (const one of others) expect(await service.list(one)).toEqual(['a']);
      await expect(service.erase?.({ app: key.app, userId: '../u' })).rejects.toMatchObject({ code: 'E_ID' });
    });

    test('CMP-19 versions are copied to another session of the user under their numbers, and stand by themselves there', async () => {
      const { service, reopen } = await fresh();
      const target = { ...key, id: 's2' };
      for (const filename of ['a', 'a', 'a', 'b', 'c', 'Ä'.repeat(60)])
        await service.save(key, filename, text(filename));
      await service.save(key, 'user:mine', text('mine'));
      await service.delete(key, 'a', 3);
      await service.save(target, 'c', text('here already'));
      const files = { a: [1, 3], c: [1], ['Ä'.repeat(60)]: [1], 'user:mine': [1], never: [2] };
      await service.copy?.(key, target, files);
      await service.copy?.(key, target, files);
      expect(await service.list(target)).toEqual(['a', 'c', 'user:mine', 'Ä'.repeat(60)]);
      expect(await service.versions(target, 'a')).toEqual([1]);
      expect(read((await service.load(target, 'c', 1))?.data ?? '')).toBe('here already');
      await service.erase?.(key);
      expect(await service.load(target, 'a')).toMatchObject({ mimeType: 'text/plain', version: 1, data: 'YQ==' });
      // Numbers that the copied log has are not used for anything else.
      expect(await service.save(target, 'a', text('new'))).toBe(4);
      expect(await service.save(target, 'never', text('new'))).toBe(3);
      const again = (await reopen?.()) ?? service;
      expect(await again.versions(target, 'a')).toEqual([4, 1]);
    });

    test('CMP-19 nothing is copied to another user, or another app', async () => {
      const { service } = await fresh();
      await service.save(key, 'a', text('mine'));
      for (const target of [
        { ...key, userId: 'u2' },
        { ...key, app: 'other' },
      ]) {
        await expect(service.copy?.(key, target, { a: [1] })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
        expect(await service.list(target)).toEqual([]);
      }
      const to = { ...key, id: 's2' };
      await expect(service.copy?.(key, to, { '../a': [1] })).rejects.toMatchObject({ code: 'E_ID' });
      await expect(service.copy?.(key, to, { a: [1.5] })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    });

    test('S0-72 delete one version or all; numbers are never used again; list is sorted', async () => {
      const { service } = await fresh();
      for (const filename of ['b', 'a', 'a']) await service.save(key, filename, text(filename));
      expect(await service.list(key)).toEqual(['a', 'b']);
      await service.delete(key, 'a', 2);
      expect(await service.versions(key, 'a')).toEqual([1]);
      expect((await service.load(key, 'a'))?.version).toBe(1);
      await service.delete(key, 'a', 0);
      expect(await service.versions(key, 'a')).toEqual([]);
      expect(await service.load(key, 'a')).toBeUndefined();
      expect(await service.list(key)).toEqual(['b']);
      expect(await service.save(key, 'a', text('again'))).toBe(3);
    });

    test('S0-73 user: files are shared by the sessions of the user, and by nobody else', async () => {
      const { service } = await fresh();
      await service.save(key, 'user:me.txt', text('mine'));
      await service.save(key, 'here.txt', text('here'));
      const other = { ...key, id: 's2' };
      expect(await service.list(other)).toEqual(['user:me.txt']);
      expect(read((await service.load(other, 'user:me.txt'))?.data ?? '')).toBe('mine');
      expect(await service.load(other, 'here.txt')).toBeUndefined();
      expect(await service.list({ ...key, userId: 'u2' })).toEqual([]);
      expect(await service.list({ ...key, app: 'other' })).toEqual([]);
    });

    test('a session that is called user does not see the files of the user', async () => {
      const { service } = await fresh();
      await service.save({ ...key, id: 'user' }, 'x', text('session'));
      await service.save(key, 'user:x', text('user'));
      expect(read((await service.load({ ...key, id: 'user' }, 'x'))?.data ?? '')).toBe('session');
      expect(await service.list({ ...key, id: 'user' })).toEqual(['user:x', 'x']);
    });

    test.each([
      'a/b',
      'a\\b',
      '..',
      '.',
      '',
      'a\0b',
      '%2e%2e',
      'user:../x',
      'user:',
      ' x',
      'C:\\x',
      'a\nb',
      'a\u2028b',
      'a\u0085b',
      'a\u202eb',
      '\u200b',
      'user:..',
      'a\ud800',
      '語'.repeat(129),
    ])('S0-74 F45 refuses the name %j', async (filename) => {
      const { service } = await fresh();
      await expect(service.save(key, filename, text('x'))).rejects.toMatchObject({ code: 'E_ID' });
      await expect(service.load(key, filename)).rejects.toMatchObject({ code: 'E_ID' });
    });

    test.each([
      { ...key, userId: '../b' },
      { ...key, id: '..' },
      { ...key, userId: 'u1/sessions/s2' },
      { ...key, app: '' },
    ])('F45 F47 refuses the key %j', async (bad) => {
      const { service } = await fresh();
      await expect(service.save(bad, 'x', text('x'))).rejects.toMatchObject({ code: 'E_ID' });
      await expect(service.list(bad)).rejects.toMatchObject({ code: 'E_ID' });
    });

    test('S0-74 a name or data that is no text is refused by code', async () => {
      const { service } = await fresh();
      await expect(service.save(key, undefined as unknown as string, text('x'))).rejects.toMatchObject({
        code: 'E_ID',
      });
      const odd = { mimeType: 'text/plain', data: 3 as unknown as string };
      await expect(service.save(key, 'x', odd)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      await expect(service.save(key, 'x', undefined as never)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    });

    test.each([undefined, null, 5, {}, '', 'text/plain\n', 'a/b\0', 'ünter/x', 'x/'.repeat(200)])(
      'S0-72 refuses the media type %j, on every backend alike',
      async (mimeType) => {
        const { service } = await fresh();
        const odd = { mimeType: mimeType as string, data: 'aGk=' };
        await expect(service.save(key, 'x', odd)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
        expect(await service.list(key)).toEqual([]);
      },
    );

    test('names that a file system would confuse stay apart', async () => {
      const { service } = await fresh();
      const names = [
        'A',
        'a',
        '\u00e9',
        'e\u0301',
        'con',
        'a.',
        'a..',
        '...',
        'User:a',
        '\u{1f6a3}',
        '__proto__',
        'x.json',
        '1.bin',
        '日本',
        '%41',
        'N'.repeat(128),
        '語'.repeat(60),
      ];
      for (const filename of names) await service.save(key, filename, text(filename));
      expect(await service.list(key)).toEqual([...names].sort());
      for (const filename of names) expect(read((await service.load(key, filename))?.data ?? '')).toBe(filename);
    });

    test('bytes come back as they were, base64 is taken, anything else is refused', async () => {
      const { service } = await fresh();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await service.save(key, 'b', { mimeType: 'application/octet-stream', data: bytes });
      bytes.fill(0);
      const stored = Buffer.from((await service.load(key, 'b'))?.data ?? '', 'base64');
      expect([...stored]).toEqual(Array.from({ length: 256 }, (_, index) => index));
      await service.save(key, 'b', { mimeType: 'x/y', data: 'aGk=' });
      expect(read((await service.load(key, 'b'))?.data ?? '')).toBe('hi');
      await expect(service.save(key, 'b', { mimeType: 'x/y', data: 'not base64!' })).rejects.toMatchObject({
        code: 'E_BAD_INPUT',
      });
      expect(await service.versions(key, 'b')).toEqual([2, 1]);
    });

    test('S0-72 a version is a whole number; one that nobody could have saved is not there', async () => {
      const { service } = await fresh();
      await service.save(key, 'a', text('one'));
      for (const version of [-1, 1.5, Number.NaN]) {
        await expect(service.load(key, 'a', version)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
        await expect(service.delete(key, 'a', version)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      }
      expect(await service.load(key, 'a', 2 ** 40)).toBeUndefined();
      await service.delete(key, 'a', 2 ** 40);
      expect(await service.versions(key, 'a')).toEqual([1]);
    });

    test('savers at once get different versions', async () => {
      const { service } = await fresh();
      const versions = await Promise.all(Array.from({ length: 20 }, (_, n) => service.save(key, 'p', text(String(n)))));
      expect([...versions].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });

    test('is there after a restart', async (context) => {
      const { service, reopen } = await fresh();
      if (!reopen) return context.skip('lives in memory');
      await service.save(key, 'a', text('kept'));
      const again = await reopen();
      expect(read((await again.load(key, 'a'))?.data ?? '')).toBe('kept');
      expect(await again.save(key, 'a', text('next'))).toBe(2);
    });
  });
}
