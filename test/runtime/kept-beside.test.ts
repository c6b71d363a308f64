import { describe, expect, test, vi } from 'vitest';
import {
  artifactBody,
  artifactName,
  artifactPlace,
  boundedAnswer,
  checkAuthConfig,
  createEvent,
  givenCredential,
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemorySessionService,
  keepCredentials,
  lentArtifacts,
  openOrCreate,
  SessionServices,
  toBase64,
  warnOnStderr,
  withBounded,
  withoutWords,
} from '../../src/runtime/index.ts';
import { key } from './kit.ts';

const content = (data: string | Uint8Array = 'AAAA', mimeType = 'text/plain') => ({ mimeType, data });
const refused = (code: string) => expect.objectContaining({ code });

describe('artifacts in memory', () => {
  test('have versions that are never used again, the newest first', async () => {
    const service = new InMemoryArtifactService();
    for (const data of ['AAAA', 'BBBB', 'CCCC']) await service.save(key, 'f', content(data));
    expect(await service.versions(key, 'f')).toEqual([3, 2, 1]);
    expect(await service.load(key, 'f')).toEqual({ mimeType: 'text/plain', data: 'CCCC', version: 3 });
    expect((await service.load(key, 'f', 1))?.data).toBe('AAAA');
    await service.delete(key, 'f', 3);
    expect((await service.load(key, 'f'))?.version).toBe(2);
    expect(await service.load(key, 'f', 3)).toBeUndefined();
    await service.delete(key, 'f');
    expect([await service.versions(key, 'f'), await service.list(key), await service.load(key, 'f')]).toEqual([
      [],
      [],
      undefined,
    ]);
    expect(await service.save(key, 'f', content())).toBe(4);
    expect(await service.versions(key, 'gone')).toEqual([]);
    await service.delete(key, 'gone');
    await expect(service.load(key, 'f', -1)).rejects.toThrow(refused('E_BAD_INPUT'));
    await expect(service.delete(key, 'f', 0.5)).rejects.toThrow(refused('E_BAD_INPUT'));
  });

  test('are of a session, or of a user, whose they stay until they are erased', async () => {
    const service = new InMemoryArtifactService();
    const other = { ...key, id: 's2' };
    const bob = { ...key, userId: 'bob' };
    for (const [of, name] of [
      [key, 'b'],
      [key, 'user:a'],
      [other, 'c'],
      [bob, 'd'],
      [{ ...key, app: 'mall' }, 'e'],
    ] as const)
      await service.save(of, name, content());
    expect(await service.list(key)).toEqual(['b', 'user:a']);
    expect(await service.list(other)).toEqual(['c', 'user:a']);
    await service.erase({ app: key.app, userId: key.userId, id: key.id });
    expect([await service.list(key), await service.list(other)]).toEqual([['user:a'], ['c', 'user:a']]);
    await service.erase({ app: key.app, userId: key.userId });
    expect([await service.list(other), await service.list(bob), await service.list({ ...key, app: 'mall' })]).toEqual([
      [],
      ['d'],
      ['e'],
    ]);
    await expect(service.erase({ app: '', userId: 'ann' })).rejects.toThrow(refused('E_ID'));
    await expect(service.erase({ app: 'shop', userId: 'ann', id: '' })).rejects.toThrow(refused('E_ID'));
  });

  test('have places and names that are checked', () => {
    expect(artifactPlace(key, 'f')).toEqual({ app: 'shop', userId: 'ann', sessionId: 's1', isUser: false, name: 'f' });
    const mine = artifactPlace(key, 'user:f');
    expect(mine).toEqual({ app: 'shop', userId: 'ann', sessionId: 'user', isUser: true, name: 'f' });
    expect([artifactName(mine), artifactName(artifactPlace(key, 'f'))]).toEqual(['user:f', 'f']);
    for (const name of ['', '../x', 'user:', 5 as never])
      expect(() => artifactPlace(key, name)).toThrow(refused('E_ID'));
    expect(() => artifactPlace({ ...key, id: '' }, 'f')).toThrow(refused('E_ID'));
  });

  test.each<[string, unknown]>([
    ['no type', { data: 'AAAA' }],
    ['an empty type', content('AAAA', '')],
    ['a type with a line', content('AAAA', 'text/plain\n')],
    ['a type that ends with a space', content('AAAA', 'text/plain ')],
    ['a type that is too long', content('AAAA', 'x'.repeat(256))],
    ['data that are no base64', content('A-_A')],
    ['data of a length that none has', content('AAAAA')],
    ['data that are none', { mimeType: 'text/plain', data: 5 }],
    ['nothing at all', undefined],
  ])('take nothing with %s', (_, given) => {
    expect(() => artifactBody(given as never)).toThrow(refused('E_BAD_INPUT'));
  });

  test('take bytes as they are, and base64 with or without its end', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const body = artifactBody(content(bytes, 'a'));
    expect([body.mimeType, [...body.bytes]]).toEqual(['a', [1, 2, 3]]);
    bytes[0] = 9;
    expect(body.bytes[0]).toBe(1);
    expect(toBase64(artifactBody(content('AQI=')).bytes)).toBe('AQI=');
    expect(toBase64(artifactBody(content('AQI', 'x'.repeat(255))).bytes)).toBe('AQI=');
    expect(toBase64(new Uint8Array([0, 1, 2, 3]).subarray(1, 3))).toBe('AQI=');
  });
});

describe('credentials in memory', () => {
  test('are of one user, by name, until they are deleted', async () => {
    const service = new InMemoryCredentialService();
    await service.save(key, 'mail', 'secret');
    await service.save(key, 'bank', 'other');
    await service.delete(key, 'bank');
    expect([await service.load(key, 'mail'), await service.load(key, 'bank')]).toEqual(['secret', undefined]);
    expect(await service.load({ ...key, userId: 'bob' }, 'mail')).toBeUndefined();
    for (const work of [
      () => service.load({ app: '', userId: 'ann' }, 'mail'),
      () => service.save({ app: '', userId: 'ann' }, 'mail', 1),
      () => service.delete({ app: '', userId: 'ann' }, 'mail'),
    ])
      await expect(work()).rejects.toThrow(refused('E_ID'));
    await expect(service.load(key, '')).rejects.toThrow(refused('E_BAD_INPUT'));
  });

  test('that came with answers are put where they belong, or everything is as it was', async () => {
    const credentials = new InMemoryCredentialService();
    const services = new SessionServices({ credentials }, key);
    await credentials.save(key, 'a', 'old');
    const takeBack = await keepCredentials(services, [
      { key: 'a', credential: 'new' },
      { key: 'b', credential: 'b' },
    ]);
    const kept = () => Promise.all(['a', 'b', 'c'].map((name) => credentials.load(key, name)));
    expect(await kept()).toEqual(['new', 'b', undefined]);
    await takeBack();
    expect(await kept()).toEqual(['old', undefined, undefined]);
    await credentials.save(key, 'a', 'newer');
    await takeBack();
    expect(await kept()).toEqual(['newer', undefined, undefined]);
    const save = credentials.save.bind(credentials);
    credentials.save = async (scope, name, credential) => {
      if (name === 'c') throw new Error('full');
      return save(scope, name, credential);
    };
    const failing = keepCredentials(services, [
      { key: 'b', credential: 'b' },
      { key: 'c', credential: 'c' },
    ]);
    await expect(failing).rejects.toThrow(refused('E_CREDENTIALS'));
    expect(await kept()).toEqual(['newer', undefined, undefined]);
  });

  test('in an answer are those of a yes to a question for one', () => {
    const ask = { kind: 'auth_required', requestId: 'c1#0' };
    const yes = (credential?: unknown) => ({ action: 'accept', content: { credential } });
    expect(givenCredential(ask, 'mail', yes('s'))).toEqual({ key: 'mail', credential: 's' });
    expect(givenCredential({ ...ask, context: { key: 'k' } }, 'mail', yes({ a: 1 }))).toEqual({
      key: 'k',
      credential: { a: 1 },
    });
    expect(givenCredential({ ...ask, kind: 'tool_confirmation' }, 'mail', yes('s'))).toBeUndefined();
    expect(givenCredential(ask, 'mail', { ...yes('s'), action: 'decline' })).toBeUndefined();
    for (const nothing of [yes(), yes(null), yes(''), { action: 'accept' }])
      expect(() => givenCredential(ask, 'mail', nothing)).toThrow(refused('E_WRONG_ANSWER'));
  });

  test('are asked for with what may be shown', () => {
    const config = { key: 'k', scheme: 's', hint: 'h', scopes: ['a'], url: 'https://x.example/y' };
    const checked = checkAuthConfig({ ...config, hint: undefined } as never);
    expect(checked).toStrictEqual({ key: 'k', scheme: 's', scopes: ['a'], url: 'https://x.example/y' });
    expect(checkAuthConfig({ url: 'no url' })).toEqual({ url: 'no url' });
    expect(checkAuthConfig(undefined as never)).toEqual({});
    for (const bad of [
      { secret: 'x' },
      { key: 1 },
      { scopes: 'a' },
      { scopes: [1] },
      { key: ['a'] },
      { url: 'https://me@x.example' },
      { url: 'https://:pass@x.example' },
    ])
      expect(() => checkAuthConfig(bad as never)).toThrow(refused('E_BAD_INPUT'));
  });

  test('are in nothing that their service says where it fails', async () => {
    const fails = (error: unknown) =>
      withoutWords(() => Promise.reject(error)).catch((thrown: Error) => thrown.message);
    expect(await fails(Object.assign(new TypeError('secret'), { code: 'EAUTH' }))).toContain('(TypeError EAUTH)');
    expect(await fails(Object.assign(new Error('secret'), { name: 'a secret', code: 5 }))).toContain('(error)');
    expect(await fails(Object.assign(new Error('secret'), { name: 'x'.repeat(41), code: 'y'.repeat(40) }))).toContain(
      `(${'y'.repeat(40)})`,
    );
    expect(await fails(undefined)).toContain('(error)');
    await expect(withoutWords(() => Promise.reject(new Error('x')))).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      retryable: true,
    });
    expect(await withoutWords(async () => 1)).toBe(1);
  });
});

describe('a result that is handed in', () => {
  const engine = (services: SessionServices, more = {}) =>
    ({ engine: { services, maxResultBytes: 100, ...more } }) as never;
  const words = (text: string) => ({ content: [{ type: 'text' as const, text }] });

  test('is as it is where it is small, and else says where the whole is kept', async () => {
    const artifacts = new InMemoryArtifactService();
    const services = new SessionServices({ artifacts }, key);
    const small = words('a');
    const same = boundedAnswer(engine(services), 'c1', small);
    expect(same).toEqual({ result: small, artifactDelta: {} });
    const large = await boundedAnswer(engine(services), 'c1', words('x'.repeat(1000)));
    const [name = ''] = await artifacts.list(key);
    expect(large.artifactDelta).toEqual({ [name]: 1 });
    expect((await artifacts.load(key, name))?.mimeType).toMatch(/^(?:text\/plain|application\/json)$/);
    const event = createEvent({ author: 'user' });
    expect(withBounded(event, large).actions.artifactDelta).toEqual({ [name]: 1 });
    expect(
      withBounded(createEvent({ author: 'user' }), { result: small, artifactDelta: {} }).actions.artifactDelta,
    ).toEqual({});
  });

  test('notes what a host has kept of it before, of the newest calls, and nothing of a result of somebody else', async () => {
    const services = new SessionServices({ artifacts: new InMemoryArtifactService() }, key);
    const cut = (name: string) => ({ ...words('a'), _meta: { truncated: { bytes: 9, artifacts: [name] } } });
    const deltaOf = async (callId: string, name: string) =>
      (await boundedAnswer(engine(services), callId, cut(name))).artifactDelta;
    for (const name of ['f', 'g']) await lentArtifacts(engine(services), 'c1').save(name, content());
    expect([await deltaOf('c1', 'f'), await deltaOf('c1', 'h'), await deltaOf('c2', 'f')]).toEqual([{ f: 1 }, {}, {}]);
    expect((await boundedAnswer(engine(services), 'c1', words('a'))).artifactDelta).toEqual({});
    // ATK4-05 No name is stored that this session has not kept.
    const saidOf = async (callId: string, name: string) =>
      (await boundedAnswer(engine(services), callId, cut(name))).result._meta?.truncated;
    expect([await saidOf('c1', 'f'), await saidOf('c1', 'user:h'), await saidOf('c2', 'f')]).toEqual([
      { bytes: 9, artifacts: ['f'] },
      { bytes: 9, artifacts: [] },
      { bytes: 9, artifacts: [] },
    ]);
    for (let index = 0; index < 1000; index++) await lentArtifacts(engine(services), `n${index}`).save('f', content());
    expect([await deltaOf('c1', 'g'), await deltaOf('n0', 'f')]).toEqual([{}, { f: 2 }]);
    const none = new SessionServices({}, key);
    await expect(lentArtifacts(engine(none), 'c1').save('f', content())).rejects.toThrow(refused('E_UNSUPPORTED'));
  });

  test('goes where the host keeps such things', async () => {
    const kept: string[] = [];
    const spill = async (name: string) => {
      kept.push(name);
      return `there/${name}`;
    };
    const large = await boundedAnswer(engine(new SessionServices({}, key), { spill }), 'c1', words('x'.repeat(1000)));
    expect([kept.length, large.artifactDelta]).toEqual([1, {}]);
    expect(JSON.stringify(large.result)).toContain('there/');
  });
});

test('a session that somebody else makes in the same moment is that one', async () => {
  const sessions = new InMemorySessionService();
  const create = sessions.create.bind(sessions);
  sessions.create = async (...given: Parameters<typeof create>) => {
    await create(...given);
    return create(...given);
  };
  expect((await openOrCreate(sessions, key)).key).toEqual(key);
  sessions.create = () => Promise.reject(new Error('full'));
  await expect(openOrCreate(sessions, { ...key, id: 's2' })).rejects.toThrow('full');
});

test('a warning is told on stderr, with its error if there is one', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const error = new Error('x');
  warnOnStderr('a');
  warnOnStderr('b', error);
  expect(warn.mock.calls).toEqual([['coxswain: a'], ['coxswain: b', error]]);
  warn.mockRestore();
});
