type Maybe<T> = T | Promise<T>;

/** Bytes that can be read again and again. */
export interface ByteSource {
  stream(): Maybe<ReadableStream<Uint8Array>>;
  /** `undefined` where it is not known without reading. */
  byteLength(): Maybe<number | undefined>;
}

export function isByteSource(value: unknown): value is ByteSource {
  const source = value as Partial<ByteSource> | null | undefined;
  return typeof source?.stream === 'function' && typeof source.byteLength === 'function';
}

/** Bytes that are in memory already; copied, so that nobody changes them behind a reader's back. */
export function bytesInMemory(content: string | Uint8Array): ByteSource {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
  return {
    byteLength: () => bytes.byteLength,
    stream: () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          if (bytes.byteLength > 0) controller.enqueue(bytes.slice());
          controller.close();
        },
      }),
  };
}

export async function bytesOf(source: ByteSource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await source.stream()) chunks.push(chunk);
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
