import type { LanguageModelV4FilePart } from '@ai-sdk/provider';

type FileData = LanguageModelV4FilePart['data'];

/** How the data of a file stands in a prompt: before AI SDK 7 without a word of its kind. */
export function fileForm(version: string): (file: { data: string } | { url: URL }) => FileData {
  if (version === 'v4') return (file) => ('data' in file ? { type: 'data', ...file } : { type: 'url', ...file });
  return (file) => ('data' in file ? file.data : file.url) as unknown as FileData;
}

/** The bytes of a file that a model has made, or where they are, whichever version of the AI SDK gave it. */
export function fileIn(data: unknown): { data: string } | { uri: string } | undefined {
  if (typeof data === 'string') return { data };
  if (data instanceof Uint8Array) return { data: Buffer.from(data).toString('base64') };
  if (data instanceof URL) return { uri: data.href };
  if (typeof data !== 'object' || data === null) return undefined;
  const { data: inner, url } = data as { data?: unknown; url?: unknown };
  return fileIn(inner) ?? (typeof url === 'string' ? { uri: url } : fileIn(url));
}
