import type { MediaPart } from '../../../contracts/index.ts';

export function dataUrl({ mimeType, data, uri }: MediaPart): string | undefined {
  return data === undefined ? uri : `data:${mimeType};base64,${data}`;
}

/** The audio formats that both OpenAI APIs take. */
export function audioFormat(mimeType: string): 'wav' | 'mp3' | undefined {
  if (/^audio\/(x-)?wav$/.test(mimeType)) return 'wav';
  return /^audio\/(mpeg|mp3)$/.test(mimeType) ? 'mp3' : undefined;
}

/** A file must have a name; the extension tells the API what it is. */
export function fileName(mimeType: string): string {
  return `file.${mimeType.split('/')[1]?.split(/[+;]/)[0] ?? 'bin'}`;
}
