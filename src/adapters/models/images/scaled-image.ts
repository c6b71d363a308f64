import type { Sharp, SharpOptions } from 'sharp';
import type { MediaPart } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { notInstalled } from '../wire/index.ts';
import { isImageKind, kindOfImage } from './kind-of-image.ts';

/** What a provider takes of one image. */
export interface ImageBounds {
  /** Pixels of its longer edge. */
  maxEdge: number;
  /** Of its file. */
  maxBytes: number;
  /** Of an image that is opened at all: a small file may hold a very large one. */
  maxPixels: number;
}

/** What is sent in place of an image: another, or words. */
export type Scaled = { readonly mimeType: string; readonly data: string } | { readonly note: string };

type Open = (input: Uint8Array, options: SharpOptions) => Sharp;

/** Seconds that one image may take. */
const SECONDS = 30;
const QUALITIES = [85, 70, 50];
/** How often an image is halved until its file is small enough. */
const HALVINGS = 6;

let loading: Promise<Open> | undefined;

/** An image within the bounds, or words. Undefined: it goes as it is; so does what neither is nor claims to be of a known kind. */
export async function scaledImage(
  part: MediaPart & { data: string },
  bounds: ImageBounds,
): Promise<Scaled | undefined> {
  const bytes = Buffer.from(part.data, 'base64');
  const kind = kindOfImage(bytes);
  if (!kind) return isImageKind(part.mimeType) ? noted(part, 'its bytes are no image of a known kind') : undefined;
  const open = await opener();
  const options: SharpOptions = { failOn: 'error', sequentialRead: true };
  const image = () => open(bytes, { ...options, limitInputPixels: bounds.maxPixels }).timeout({ seconds: SECONDS });
  try {
    // Of its head alone: nothing is unpacked.
    const { width, height, hasAlpha } = await open(bytes, { ...options, limitInputPixels: false }).metadata();
    if (width * height > bounds.maxPixels) {
      return noted(part, `it has ${width} x ${height} pixels, and ${bounds.maxPixels} are the most that is opened`);
    }
    const fits = Math.max(width, height) <= bounds.maxEdge && bytes.byteLength <= bounds.maxBytes;
    if (fits) return kind === part.mimeType ? undefined : { mimeType: kind, data: part.data };
    const made = await within(image, bounds, kind === 'image/png' || hasAlpha);
    return made ?? noted(part, `it cannot be made smaller than ${bounds.maxBytes} bytes`);
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    return noted(part, 'it is damaged');
  }
}

/** The largest that is small enough: without loss where the original is, else as a photograph. */
async function within(
  image: () => Sharp,
  { maxEdge, maxBytes }: ImageBounds,
  isExact: boolean,
): Promise<Scaled | undefined> {
  const sized = (edge: number) =>
    image().autoOrient().resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
  if (isExact) {
    const png = await sized(maxEdge).png().toBuffer();
    if (png.byteLength <= maxBytes) return { mimeType: 'image/png', data: png.toString('base64') };
  }
  for (let halved = 0, edge = maxEdge; halved <= HALVINGS; halved++, edge = Math.max(1, Math.floor(edge / 2))) {
    for (const quality of QUALITIES) {
      const jpeg = await sized(edge).flatten({ background: '#ffffff' }).jpeg({ quality }).toBuffer();
      if (jpeg.byteLength <= maxBytes) return { mimeType: 'image/jpeg', data: jpeg.toString('base64') };
    }
  }
  return undefined;
}

function noted({ mimeType }: MediaPart, why: string): Scaled {
  return { note: `[${mimeType}: not shown, ${why}]` };
}

async function opener(): Promise<Open> {
  loading ??= load();
  try {
    return await loading;
  } catch (error) {
    // It may be installed meanwhile.
    loading = undefined;
    throw error;
  }
}

async function load(): Promise<Open> {
  try {
    return (await import('sharp')).default;
  } catch (cause) {
    throw notInstalled('sharp', cause);
  }
}
