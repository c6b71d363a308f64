import { createHash } from 'node:crypto';
import type { Content, ContentPart, FunctionResponsePart, MediaPart } from '../../../contracts/index.ts';
import type { Model } from '../../../runtime/index.ts';
import type { Shape } from '../../../session/index.ts';
import { checkIs, checkOptions, count, having } from '../../../session/index.ts';
import { toolOutcome } from '../content/index.ts';
import type { ImageBounds, Scaled } from './scaled-image.ts';
import { scaledImage } from './scaled-image.ts';

export interface ImageLimits {
  /**
   * Pixels of the longer edge that an image may have. Default as much as its provider looks at: 1,568 for Claude and where the
   * provider is not known, 2,048 for OpenAI, 3,072 for Gemini.
   */
  maxEdge?: number;
  /** Bytes of its file. Default 3,750,000 for Claude and where the provider is not known, else 5,000,000. */
  maxBytes?: number;
  /** Pixels of an image that is opened at all; of a larger one a note is left. Default 50,000,000. */
  maxPixels?: number;
}

const shape: Shape<ImageLimits> = { maxEdge: count, maxBytes: count, maxPixels: count };

/** What providers scale down to themselves, or refuse, by their name in telemetry. */
const TAKEN: Readonly<Record<string, Omit<ImageBounds, 'maxPixels'>>> = {
  openai: { maxEdge: 2048, maxBytes: 5_000_000 },
  'gcp.gemini': { maxEdge: 3072, maxBytes: 5_000_000 },
};
const LEAST = { maxEdge: 1568, maxBytes: 3_750_000 };
const MAX_PIXELS = 50_000_000;
/** Characters of scaled images that are remembered, so that each step sends the same bytes without making them again. */
const REMEMBERED = 32 * 1024 * 1024;

/**
 * A model whose images are made as small as its provider takes them: those of messages and of results, PNG, JPEG, GIF and WebP. The log
 * keeps them as they are. One that cannot be read, or is too large to be opened, is replaced by a note.
 * Needs the package `sharp`, which is loaded with the first image.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`; a call `FAILED_PRECONDITION / E_MODEL_SETUP` without that package
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { anthropicModel, scaleImages } from 'coxswain/models';
 *
 * const claude = anthropicModel('claude-sonnet-5', { apiKey: process.env.ANTHROPIC_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model: scaleImages(claude) });
 * ```
 */
export function scaleImages(model: Model, limits: ImageLimits = {}): Model {
  checkIs(model, 'scaleImages: model', { needs: 'a model', fits: having('generate').fits });
  checkOptions<ImageLimits>(limits, 'scaleImages: limits', shape);
  const { name, system, server } = model;
  const images = new Images({ ...(TAKEN[system ?? ''] ?? LEAST), maxPixels: MAX_PIXELS, ...limits });
  return {
    name,
    ...(system === undefined ? {} : { system }),
    ...(server === undefined ? {} : { server }),
    contextWindow: (asked) => model.contextWindow?.(asked),
    async *generate(request, options) {
      const contents = await images.within(request.contents, options.signal);
      yield* model.generate(contents === request.contents ? request : { ...request, contents }, options);
    },
  };
}

type Image = MediaPart & { data: string };

class Images {
  readonly #bounds: ImageBounds;
  /** By what they were made of, the least recently used first. Undefined: it goes as it is. */
  readonly #made = new Map<string, Scaled | undefined>();
  #remembered = 0;

  constructor(bounds: ImageBounds) {
    this.#bounds = bounds;
  }

  /** The same list where there is nothing to be made smaller. */
  async within(contents: readonly Content[], signal: AbortSignal): Promise<readonly Content[]> {
    const all: Content[] = [];
    let isChanged = false;
    for (const content of contents) {
      const parts: ContentPart[] = [];
      for (const part of content.parts) parts.push(await this.#part(part, signal));
      const isSame = parts.every((part, at) => part === content.parts[at]);
      isChanged ||= !isSame;
      all.push(isSame ? content : { ...content, parts });
    }
    return isChanged ? all : contents;
  }

  async #part(part: ContentPart, signal: AbortSignal): Promise<ContentPart> {
    if (isImage(part)) return this.#image(part, signal);
    return part.type === 'function_response' ? this.#result(part as FunctionResponsePart, signal) : part;
  }

  async #result(part: FunctionResponsePart, signal: AbortSignal): Promise<FunctionResponsePart> {
    const before = part.content ?? [];
    const images = before.filter(isImage);
    if (images.length === 0) return part;
    const content: ContentPart[] = [];
    for (const item of before) content.push(isImage(item) ? await this.#image(item, signal) : item);
    if (content.every((item, at) => item === before[at])) return part;
    // Its value may repeat the bytes as text: they are known by those of the original alone.
    const { response } = toolOutcome(part);
    const once = (text: string): string =>
      images.reduce((left, { data, mimeType }) => left.replaceAll(data, `[${mimeType}: a part of its own]`), text);
    const said = content.map((item) => (item.type === 'text' ? { ...item, text: once(item.text) } : item));
    return { ...part, response, content: said as NonNullable<FunctionResponsePart['content']> };
  }

  async #image(part: Image, signal: AbortSignal): Promise<ContentPart> {
    signal.throwIfAborted();
    const key = createHash('sha256').update(part.mimeType).update('\0').update(part.data).digest('base64');
    const scaled = this.#made.has(key) ? this.#made.get(key) : await scaledImage(part, this.#bounds);
    this.#remember(key, scaled);
    if (!scaled) return part;
    return 'note' in scaled ? { type: 'text', text: scaled.note } : { ...part, ...scaled };
  }

  #remember(key: string, scaled: Scaled | undefined): void {
    if (!this.#made.delete(key)) this.#remembered += sizeOf(key, scaled);
    this.#made.set(key, scaled);
    for (const [oldest, one] of this.#made) {
      if (this.#remembered <= REMEMBERED) return;
      this.#made.delete(oldest);
      this.#remembered -= sizeOf(oldest, one);
    }
  }
}

function isImage(part: ContentPart): part is Image {
  return (
    part.type === 'media' && part.mimeType.startsWith('image/') && typeof part.data === 'string' && part.data !== ''
  );
}

/** Characters. */
function sizeOf(key: string, scaled: Scaled | undefined): number {
  const held = !scaled ? 0 : 'note' in scaled ? scaled.note.length : scaled.data.length;
  return key.length + held;
}
