import { execFileSync } from 'node:child_process';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { anthropicModel, openaiResponsesModel, scaleImages } from '../../../src/adapters/models/index.ts';
import type { ContentPart, MediaPart } from '../../../src/contracts/index.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import type { Model } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { ask, user } from './kit.ts';
import { anthropic } from './providers.ts';
import { FakeProvider } from './server.ts';

const apiKey = 'sk-0123456789';

/** An image that packs badly: a file as large as its pixels. */
async function noise(width: number, height: number, kind: 'png' | 'jpeg' | 'webp' = 'png'): Promise<MediaPart> {
  const data = Buffer.alloc(width * height * 3);
  let seed = 7;
  for (let at = 0; at < data.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    data[at] = seed >> 16;
  }
  const file = await sharp(data, { raw: { width, height, channels: 3 } })
    .toFormat(kind)
    .toBuffer();
  return { type: 'media', mimeType: `image/${kind}`, data: file.toString('base64') };
}

const plain = async (width: number, height: number): Promise<MediaPart> => {
  const file = await sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();
  return { type: 'media', mimeType: 'image/png', data: file.toString('base64') };
};

/** What a model is sent in place of a part. */
async function sent(part: ContentPart, limits = {}, of: Model = new ScriptedModel([])) {
  const seen: ContentPart[][] = [];
  const spy: Model = {
    name: of.name,
    ...(of.system === undefined ? {} : { system: of.system }),
    async *generate({ contents }) {
      seen.push(contents.flatMap(({ parts }) => parts));
      yield { content: { role: 'model', parts: [{ type: 'text', text: 'ok' }] }, finishReason: 'stop' };
    },
  };
  await ask(scaleImages(spy, limits), { contents: [user(part)] });
  return seen[0]?.[0];
}

const sizeOf = async (part: ContentPart | undefined) => {
  if (part?.type !== 'media' || part.data === undefined) throw new Error(`no image: ${JSON.stringify(part)}`);
  const bytes = Buffer.from(part.data, 'base64');
  const { width, height, format } = await sharp(bytes).metadata();
  return { width, height, format, bytes: bytes.length, mimeType: part.mimeType };
};

describe('images of a request', () => {
  test('IMG-1 one that fits goes as it is, byte for byte', async () => {
    const part = await plain(100, 80);
    expect(await sent(part)).toBe(part);
  });

  test('IMG-2 a large one keeps its shape; without loss where it was, and is small enough', async () => {
    const part = { ...(await plain(3000, 1000)), _meta: { mine: 1 } };
    expect(await sizeOf(await sent(part))).toMatchObject({
      width: 1568,
      height: 523,
      format: 'png',
      mimeType: 'image/png',
    });
    expect(await sent(part)).toMatchObject({ _meta: { mine: 1 } });
  });

  test('IMG-3 a file above the bound becomes a photograph, and is halved until it fits', async () => {
    const part = await noise(800, 600);
    const photograph = await sizeOf(await sent(part, { maxBytes: 500_000 }));
    expect(photograph).toMatchObject({ width: 800, format: 'jpeg', mimeType: 'image/jpeg' });
    expect(photograph.bytes).toBeLessThanOrEqual(500_000);
    const small = await sizeOf(await sent(part, { maxBytes: 20_000, maxEdge: 800 }));
    expect(small.bytes).toBeLessThanOrEqual(20_000);
    expect(small.width).toBeLessThan(800);
    expect(small.width / small.height).toBeCloseTo(4 / 3, 1);
    expect(await sent(part, { maxBytes: 10 })).toMatchObject({
      type: 'text',
      text: expect.stringContaining('cannot be made smaller'),
    });
  });

  test('IMG-4 each provider has as much as it looks at', async () => {
    const part = await plain(4000, 400);
    const of = (system: string) => sent(part, {}, { name: 'm', system, generate: () => [] as never });
    const widths = [];
    for (const system of ['anthropic', 'openai', 'gcp.gemini', 'other'])
      widths.push((await sizeOf(await of(system))).width);
    expect(widths).toEqual([1568, 2048, 3072, 1568]);
  });

  test('IMG-5 a photograph that lies on its side stands up, and says no more where it was taken', async () => {
    const file = await sharp(Buffer.from((await noise(400, 200, 'jpeg')).data ?? '', 'base64'))
      .withExif({ IFD3: { GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const part: MediaPart = { type: 'media', mimeType: 'image/jpeg', data: file.toString('base64') };
    const scaled = await sent(part, { maxEdge: 200 });
    expect(await sizeOf(scaled)).toMatchObject({ width: 100, height: 200 });
    expect((await sharp(Buffer.from((scaled as MediaPart).data ?? '', 'base64')).metadata()).exif).toBeUndefined();
  });

  test('IMG-6 what it is counts, not what it is called', async () => {
    const part = { ...(await noise(50, 50, 'webp')), mimeType: 'image/jpeg' };
    expect(await sent(part)).toEqual({ ...part, mimeType: 'image/webp' });
  });
});

describe('what cannot be shown', () => {
  /** A PNG that says it is of this size, and holds nearly nothing. */
  const bomb = (width: number, height: number): MediaPart => {
    const chunk = (name: string, body: Buffer): Buffer => {
      const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
      length.writeUInt32BE(body.length);
      crc.writeUInt32BE(crc32(Buffer.concat([Buffer.from(name), body])));
      return Buffer.concat([length, Buffer.from(name), body, crc]);
    };
    const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(100))), chunk('IEND', Buffer.alloc(0))];
    const file = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
    return { type: 'media', mimeType: 'image/png', data: file.toString('base64') };
  };

  test('IMG-7 a small file with very many pixels is not opened', async () => {
    expect(await sent(bomb(60_000, 60_000))).toEqual({
      type: 'text',
      text: expect.stringMatching(/^\[image\/png: not shown, it has 60000 x 60000 pixels, and 50000000 are the most/),
    });
    expect(await sent(await plain(300, 300), { maxPixels: 80_000 })).toMatchObject({
      text: '[image/png: not shown, it has 300 x 300 pixels, and 80000 are the most that is opened]',
    });
  });

  test('IMG-8 a damaged one is a note, and the turn takes place', async () => {
    const whole = await noise(300, 300);
    const half = { ...whole, data: (whole.data ?? '').slice(0, 50_000) };
    expect(await sent(half, { maxEdge: 100 })).toEqual({ type: 'text', text: '[image/png: not shown, it is damaged]' });
    const words = { type: 'media', mimeType: 'image/png', data: Buffer.from('no image').toString('base64') } as const;
    expect(await sent(words)).toMatchObject({ text: expect.stringContaining('no image of a known kind') });
  });

  test('IMG-9 what is no image of these kinds, or only an address, is left to the adapter', async () => {
    const svg = { type: 'media', mimeType: 'image/svg+xml', data: Buffer.from('<svg/>').toString('base64') } as const;
    const address = { type: 'media', mimeType: 'image/png', uri: 'https://pictures.test/a.png' } as const;
    const sound = { type: 'media', mimeType: 'audio/wav', data: 'AQID' } as const;
    for (const part of [svg, address, sound]) expect(await sent(part)).toBe(part);
  });

  test('IMG-10 an abort ends the work, and options that are none are refused', async () => {
    const reason = new Error('enough');
    const model = scaleImages(new ScriptedModel(['x']));
    const asked = ask(model, { contents: [user(await plain(10, 10))] }, { signal: AbortSignal.abort(reason) });
    await expect(asked).rejects.toBe(reason);
    expect(() => scaleImages({} as never)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    expect(() => scaleImages(model, { maxEdges: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT' }),
    );
  });
});

test('IMG-11 in a session: messages and results, the same bytes in each request, the log as it was; bytes that the value repeats are not sent', async () => {
  const picture = await plain(2000, 1000);
  const shot = await plain(1000, 2000);
  const look = {
    name: 'look',
    description: 'looks',
    annotations: { readOnly: true },
    execute: () => ({ content: [shot as never], structuredContent: { file: shot.data } }),
  };
  await using fake = await FakeProvider.start((_, count) => ({
    body: anthropic.answer(count === 1 ? { calls: [{ id: 'c1', name: 'look', args: {} }] } : { text: 'ok' }).stream,
  }));
  const model = scaleImages(anthropicModel('claude', { apiKey, baseUrl: fake.url }));
  const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model, tools: [look] })] });
  const session = await host.open('bot');
  await run(session, { kind: 'message', content: [{ type: 'text', text: 'see' }, picture] });
  const bodies = fake.requests.map(({ body }) => JSON.stringify(body));
  const images = bodies.map((body) =>
    [...body.matchAll(/"type":"base64","media_type":"image\/png","data":"([^"]*)"/g)].map(([, data]) => data),
  );
  expect(images.map((all) => all.length)).toEqual([1, 2]);
  expect(images[1]?.[0]).toBe(images[0]?.[0]);
  for (const data of images.flat()) {
    const { width, height } = await sharp(Buffer.from(data ?? '', 'base64')).metadata();
    expect(Math.max(width, height)).toBe(1568);
  }
  for (const data of [picture.data, shot.data]) expect(bodies.some((body) => body.includes(data ?? '-'))).toBe(false);
  let log = '';
  for await (const event of session.events()) log += JSON.stringify(event);
  for (const data of [picture.data, shot.data]) expect(log).toContain(data);
  await host.close();
});

test('IMG-12 without the package the call says what to install; where there is no image nobody needs it', async () => {
  const from = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const data = JSON.stringify((await plain(10, 10)).data);
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier === 'sharp') throw Object.assign(new Error('Cannot find package sharp'), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(specifier, context);
      },
    });
    const { scaleImages } = await import(${from('../../../src/adapters/models/index.ts')});
    const { ScriptedModel } = await import(${from('../../../src/testing/index.ts')});
    const asked = async (...images) => {
      const parts = [{ type: 'text', text: 'look' }, ...images.map((data) => ({ type: 'media', mimeType: 'image/png', data }))];
      const request = { contents: [{ role: 'user', parts }], tools: [] };
      try {
        let last;
        for await (last of scaleImages(new ScriptedModel(['ok'])).generate(request, { signal: new AbortController().signal }));
        return last.finishReason;
      } catch (error) {
        return [error.code, error.message];
      }
    };
    console.log(JSON.stringify([await asked(), await asked(${data})]));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual(['stop', ['E_MODEL_SETUP', expect.stringContaining('sharp')]]);
});

test('IMG-13 what is known of a model stays known', () => {
  const model = openaiResponsesModel('gpt-5', { apiKey });
  const scaled = scaleImages(model);
  expect([scaled.name, scaled.system, scaled.server]).toEqual([model.name, model.system, model.server]);
  expect(scaled.contextWindow?.('gpt-5')).toBe(272_000);
});
