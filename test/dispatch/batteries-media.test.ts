import { describe, expect, test } from 'vitest';
import type { WebLLMEngine } from '../../src/adapters/batteries/index.ts';
import { WEB_LLM_STASH_KEY, WebLLMChatCompletionsAdapter } from '../../src/adapters/batteries/index.ts';
import type { MediaKind, TrustTier } from '../../src/dispatch/index.ts';
import { bytesInMemory, Media, Message, Records, Tool, TRUST_TIERS } from '../../src/dispatch/index.ts';
import { clock, hello, serve } from './battery-kit.ts';
import { words } from './chat-server.ts';
import { call, desk } from './kit.ts';

function media(kind: MediaKind, mimeType: string, trustTier: TrustTier = 'first-party', filename = 'a b.bin'): Media {
  const reader = bytesInMemory(Uint8Array.of(1, 2, 255));
  return new Media({ kind, mimeType, filename, reader, trustTier, modalityHazard: 'opaque-perceptual' });
}

describe('media', () => {
  const attached = (...attachments: Media[]) => {
    const records = new Records();
    const value = new Message({ id: 'u', role: 'user', content: 'Look:', attachments, createdAt: 0, updatedAt: 0 });
    records.apply({ op: 'store', kind: 'message', value });
    return records;
  };
  const nonce = () => 'n0nce';

  test.each([
    ['image', 'image/png', { type: 'image_url', image_url: { url: 'data:image/png;base64,AQL/' } }],
    ['audio', 'audio/wav', { type: 'input_audio', input_audio: { data: 'AQL/', format: 'wav' } }],
    ['audio', 'audio/mpeg', { type: 'input_audio', input_audio: { data: 'AQL/', format: 'mp3' } }],
    [
      'document',
      'application/pdf',
      { type: 'file', file: { filename: 'a b.bin', file_data: 'data:application/pdf;base64,AQL/' } },
    ],
  ] as const)('S4-42 S4-48 %s %s goes as it is', async (kind, mimeType, block) => {
    await using at = await serve(words('ok'));
    await desk(at.adapter().executor(), {}, attached(media(kind, mimeType))).runner.run();
    const [text, open, native, close] = (at.server.requests[0]?.body.messages[0]?.content ?? []) as Record<
      string,
      unknown
    >[];
    expect([text, native]).toEqual([{ type: 'text', text: 'Look:' }, block]);
    expect(open?.text).toBe(
      `<trusted_media filename="a b.bin" mime="${mimeType}" modality="${kind}" hazard="opaque-perceptual">`,
    );
    expect(close?.text).toBe('</trusted_media>');
  });

  test('S4-44 what the API does not take is an error by default', async () => {
    await using at = await serve(words('never'));
    const { runner } = desk(at.adapter().executor(), {}, attached(media('video', 'video/mp4')));
    expect(await runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_UNSUPPORTED_MEDIA_MODALITY' } });
    expect(at.server.requests).toEqual([]);
  });

  test('S4-45 S4-46 fallback-stash, and synthetic-description where there is nothing', async () => {
    const told = media('video', 'video/mp4', 'first-party', '../x<y>.mp4');
    told.stash.set('text:transcript', { value: 'spoken words', trustTier: 'third-party-public' });
    await using at = await serve(words('ok'));
    const adapter = at.adapter({ unsupportedMediaPolicy: 'fallback-stash', helpers: { nonce } });
    const { runner, seen } = desk(adapter.executor(), {}, attached(told, media('audio', 'audio/ogg')));
    await runner.run();
    const [system, user] = at.server.requests[0]?.body.messages ?? [];
    const [, spoken, described] = (user?.content ?? []) as { text: string }[];
    expect(spoken?.text).toMatch(/^<untrusted_media_text nonce="n0nce" filename="x_y_\.mp4".*\nspoken words\n/);
    expect(described?.text).toBe('[media: a b.bin, audio/ogg, 3 bytes]');
    expect(system?.content).toContain('same nonce');
    expect(seen.log).toMatchObject([{ kind: 'media-described' }]);
  });

  const matrix = [true, false].flatMap((trusted) => TRUST_TIERS.map((tier) => [trusted, tier] as const));
  test.each(matrix)('S4-47 tool trusted: %s, media %s', async (trusted, tier) => {
    await using at = await serve(words('ok'));
    const records = hello();
    const picture = media('image', 'image/png', tier);
    records.apply({ op: 'store', kind: 'toolCall', value: call('c1', 'camera', {}, [picture]) });
    const camera = new Tool({ name: 'camera', description: 'Takes pictures.', trusted });
    await desk(at.adapter({ helpers: { nonce } }).executor(), { tools: [camera] }, records).runner.run();
    const last = at.server.requests[0]?.body.messages.at(-1);
    const [open, image] = (last?.content ?? []) as { type: string; text: string }[];
    expect([last?.role, image?.type]).toEqual(['user', 'image_url']);
    expect(open?.text.startsWith('<trusted_media ')).toBe(tier === 'first-party');
    expect(open?.text.startsWith('<untrusted_media nonce="n0nce" ')).toBe(tier !== 'first-party');
  });
});

describe('WebLLMChatCompletionsAdapter', () => {
  function engine(...answers: unknown[][]) {
    const requests: Record<string, unknown>[] = [];
    let interrupted = 0;
    const made: WebLLMEngine = {
      interruptGenerate: () => {
        interrupted++;
      },
      chat: {
        completions: {
          async create(request: Record<string, unknown>) {
            requests.push(request);
            const chunks = answers.shift() ?? [];
            return (async function* () {
              yield* chunks;
            })();
          },
        },
      },
    };
    return { made, requests, interrupted: () => interrupted };
  }

  const chunk = (value: Record<string, unknown>, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta: value, finish_reason }],
  });

  test('S4-37 the same contract: streamed, tools, acknowledged; the engine is made once', async () => {
    const toolCall = { index: 0, id: 'c1', function: { name: 'clock', arguments: '{}' } };
    const fake = engine([chunk({ tool_calls: [toolCall] }, 'tool_calls')], [chunk({ content: 'Noon.' }, 'stop')]);
    let made = 0;
    const adapter = new WebLLMChatCompletionsAdapter({
      model: 'local',
      autoAck: true,
      engine: async () => {
        made++;
        return fake.made;
      },
    });
    const { runner, records } = desk(adapter.executor(), { tools: [clock] }, hello());
    expect(await runner.run({ stash: { [WEB_LLM_STASH_KEY]: { params: { seed: 1 } } } })).toMatchObject({
      status: 'ack',
    });
    expect([...records.message].at(-1)?.content).toBe('Noon.');
    expect(fake.requests).toMatchObject([{ model: 'local', seed: 1 }, { messages: expect.any(Array) }]);
    expect(made).toBe(1);
  });

  test('S4-37 S4-38 without autoAck the answer is left unsignalled', async () => {
    const fake = engine([chunk({ content: 'x' }, 'stop')]);
    const adapter = new WebLLMChatCompletionsAdapter({ model: 'local', engine: fake.made });
    const { runner } = desk(adapter.executor(), { dispatchOutputPipeline: [(ctx) => ctx.ack()] }, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 1 });
  });

  test('S4-37 S4-41 an abort interrupts the engine', async () => {
    const fake = engine([chunk({ content: 'x' })]);
    const adapter = new WebLLMChatCompletionsAdapter({ model: 'local', engine: fake.made, autoAck: true });
    const { runner } = desk(adapter.executor(), {}, hello());
    const turnAbortController = new AbortController();
    runner.on('message', () => turnAbortController.abort());
    expect((await runner.run({ turnAbortController })).status).toBe('aborted');
    expect(fake.interrupted()).toBe(1);
  });
});

test('S4-39 the batteries know no more of the dispatch than its public entry', async () => {
  const { importsOf, sourceFiles } = await import('../structure/source.ts');
  const files = sourceFiles().filter(({ path }) => path.startsWith('adapters/batteries/'));
  const inner = files
    .flatMap(({ code }) => importsOf(code))
    .filter(({ specifier }) => /dispatch\/(?!index\.ts)/.test(specifier));
  expect(files.length).toBeGreaterThan(0);
  expect(inner).toEqual([]);
});
