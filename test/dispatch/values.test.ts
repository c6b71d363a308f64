import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesInMemory,
  FileSpoolStore,
  InMemorySpoolStore,
  Media,
  Message,
  mergeTiers,
  SpooledArtifact,
  Thought,
  Tool,
  ToolCall,
  toolCallChecksum,
} from '../../src/dispatch/index.ts';

const times = { createdAt: new Date(0), updatedAt: '1970-01-01T00:00:00.001Z' };
const picture = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    reader: bytesInMemory(Uint8Array.of(1, 2, 255)),
    trustTier: 'first-party',
    modalityHazard: 'opaque-perceptual',
  });

describe('messages, thoughts, tool calls', () => {
  test('S4-05 a message is immutable, its times are copies', () => {
    const message = new Message({ id: 'm', role: 'user', content: 'hi', ...times });
    expect(message).toMatchObject({ id: 'm', role: 'user', content: 'hi', identity: 'user', attachments: [] });
    message.createdAt.setTime(99);
    expect([message.createdAt.getTime(), message.updatedAt.getTime()]).toEqual([0, 1]);
    expect(message).toSatisfy(Object.isFrozen);
  });

  test('every fault is named at once', () => {
    const make = () => new Message({ id: '', role: 'system' as 'user', createdAt: 'soon', updatedAt: 0 });
    expect(make).toThrow(expect.objectContaining({ code: 'E_INVALID_INITIAL_VALUE' }));
    expect(make).toThrow(/id: .*role: .*content: .*createdAt: /);
  });

  test('S4-42 a message may be attachments alone; what is no Media is refused', () => {
    expect(new Message({ id: 'm', role: 'user', attachments: [picture()], ...times }).content).toBeUndefined();
    expect(() => new Message({ id: 'm', role: 'user', attachments: [{} as Media], ...times })).toThrow(/attachments/);
  });

  test('a thought needs words', () => {
    expect(new Thought({ id: 't', content: 'hm', ...times }).content).toBe('hm');
    expect(() => new Thought({ id: 't', content: '', ...times })).toThrow(/content/);
  });

  test('S4-23 a tool call keeps a copy of what it is given', () => {
    const args = { list: [1] };
    const call = new ToolCall({ id: 'c', checksum: 'x', tool: 'find', args, results: [{ a: 1 }], ...times });
    args.list.push(2);
    expect(call).toMatchObject({ args: { list: [1] }, results: [{ a: 1 }], isError: false, isComplete: false });
    expect(call.completedAt).toBeUndefined();
    expect(() => Object.assign(call.args as object, { x: 1 })).toThrow(TypeError);
  });

  test('S4-42 results are of one kind', () => {
    const artifact = new SpooledArtifact(bytesInMemory('x'));
    const make = (results: unknown) => new ToolCall({ id: 'c', checksum: 'x', tool: 't', args: {}, results, ...times });
    expect(make([picture(), picture()]).results).toHaveLength(2);
    expect(make([artifact]).results).toEqual([artifact]);
    for (const mixed of [
      [picture(), artifact],
      [picture(), 'text'],
      [artifact, { a: 1 }],
    ]) {
      expect(() => make(mixed)).toThrow(/one kind/);
    }
  });
});

describe('checksums', () => {
  // `printf '%s' '{"args":{"a":1,"b":[1,2]},"tool":"find"}' | sha256sum`
  test('S4-25 a known vector, whatever the order of the keys', () => {
    const known = 'bd109af3aeb263aa05902f4edf5768504842b89382ed61277625fa73043f5e19';
    expect(toolCallChecksum('find', { b: [1, 2], a: 1 })).toBe(known);
    expect(toolCallChecksum('find', { a: 1, b: [1, 2] })).toBe(known);
  });

  test('S4-25 keys stand in order of their code units, whatever the locale', async () => {
    const bytes = new TextEncoder().encode('{"args":{"B":1,"a":2,"é":3},"tool":"t"}');
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
    expect(toolCallChecksum('t', { é: 3, a: 2, B: 1 })).toBe(digest);
  });

  test('S4-25 undefined members are left out; undefined, NaN and infinities in lists are null', () => {
    expect(toolCallChecksum('t', { a: undefined, b: 1 })).toBe(toolCallChecksum('t', { b: 1 }));
    expect(toolCallChecksum('t', [undefined, Number.NaN, Number.POSITIVE_INFINITY])).toBe(
      toolCallChecksum('t', [null, null, null]),
    );
    expect(toolCallChecksum('t', { ['__proto__']: 1 })).not.toBe(toolCallChecksum('t', {}));
  });

  test('S4-25 what has no JSON is refused', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => toolCallChecksum('t', { n: 1n })).toThrow(expect.objectContaining({ code: 'E_NOT_JSON' }));
    expect(() => toolCallChecksum('t', { at: new Date() })).toThrow(expect.objectContaining({ code: 'E_NOT_JSON' }));
    expect(() => toolCallChecksum('t', cycle)).toThrow(expect.objectContaining({ code: 'E_TOO_DEEP' }));
  });
});

describe('media', () => {
  test('S4-43 stream(), asBytes() and asBase64() open the bytes anew', async () => {
    const media = picture();
    const read = async () => {
      const chunks: number[] = [];
      for await (const chunk of await media.stream()) chunks.push(...chunk);
      return chunks;
    };
    expect([await read(), await read()]).toEqual([
      [1, 2, 255],
      [1, 2, 255],
    ]);
    expect([...(await media.asBytes())]).toEqual([1, 2, 255]);
    expect([await media.asBase64(), await media.asBase64()]).toEqual(['AQL/', 'AQL/']);
    expect(await media.byteLength()).toBe(3);
  });

  test('S4-47 trust tier and hazard have no default; JSON has no bytes', () => {
    const raw = { kind: 'image', mimeType: 'image/png', filename: 'a', reader: bytesInMemory('x') };
    expect(() => new Media(raw as never)).toThrow(/trustTier.*modalityHazard/);
    expect(() => new Media({ ...raw, reader: {} } as never)).toThrow(/reader/);
    // Nothing of the bytes; the id is random and may hold any digits.
    const { id: _, ...told } = picture().toJSON();
    expect(JSON.stringify(told)).not.toMatch(/AQL|255|reader/);
    expect(picture().toJSON()).toMatchObject({ trustTier: 'first-party', modalityHazard: 'opaque-perceptual' });
  });

  test('bytes in memory are a copy', async () => {
    const bytes = Uint8Array.of(1);
    const source = bytesInMemory(bytes);
    bytes[0] = 9;
    for await (const chunk of await source.stream()) chunk[0] = 8;
    expect([...(await new SpooledArtifact(source).asBytes())]).toEqual([1]);
  });
});

describe('spool stores', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['memory', () => new InMemorySpoolStore()],
    ['files', () => new FileSpoolStore(folder)],
  ])('S4-49 %s: write, read, replace, delete', async (_, make) => {
    const store = make();
    const first = new SpooledArtifact(store.write('c1', 'one\ntwo\nthree\n'));
    expect(await first.asText()).toBe('one\ntwo\nthree\n');
    expect([await first.head(1), await first.tail(1), await first.lines()]).toEqual([
      ['one'],
      ['three'],
      ['one', 'two', 'three'],
    ]);
    const second = new SpooledArtifact(store.write('c1', Uint8Array.of(0, 255)));
    expect([...(await second.asBytes())]).toEqual([0, 255]);
    expect(await second.byteLength()).toBe(2);
    expect(await first.asText()).toMatch(/^one/);
    const again = store.read('c1');
    expect(again && [...(await new SpooledArtifact(again).asBytes())]).toEqual([0, 255]);
    expect([store.delete('c1'), store.delete('c1'), store.read('c1')]).toEqual([true, false, undefined]);
  });

  test('S4-49 an id is no path', async () => {
    const store = new FileSpoolStore(folder);
    for (const id of ['../../etc/x', '/abs', 'a/b', '', '\0']) {
      expect(await new SpooledArtifact(store.write(id, id)).asText()).toBe(id);
      expect(store.read(id)).toBeDefined();
    }
    expect(readdirSync(folder).every((name) => /^[0-9a-f]{64}\.(id|blob)$/.test(name))).toBe(true);
  });

  test('S4-32 text and bytes go into the tool’s own artifact, or a SpooledArtifact', async () => {
    class Report extends SpooledArtifact {}
    const own = new Tool({ name: 'a', description: '', artifactConstructor: () => Report });
    const plain = new Tool({ name: 'b', description: '' });
    const store = new InMemorySpoolStore();
    const wrap = (tool: Tool) => new (tool.artifactConstructor?.() ?? SpooledArtifact)(store.write('c', 'x'));
    expect(wrap(own)).toBeInstanceOf(Report);
    expect(wrap(plain)).not.toBeInstanceOf(Report);
    expect(await wrap(own).asText()).toBe('x');
    expect(JSON.stringify(wrap(own))).toBe('{"type":"spooled_artifact","byteLength":1}');
  });
});

describe('three tiers of settings', () => {
  test('S4-40 the later tier wins, undefined says nothing, named members are merged', () => {
    type Settings = { model: string; headers: Record<string, string>; stop: string[] };
    const merged = mergeTiers<Settings>(
      ['headers'],
      { model: 'a', headers: { x: '1', y: '1' }, stop: ['s'] },
      { headers: { y: '2' }, stop: [] },
      { model: undefined as never, headers: { z: '3' } },
    );
    expect(merged).toEqual({ model: 'a', headers: { x: '1', y: '2', z: '3' }, stop: [] });
  });
});
