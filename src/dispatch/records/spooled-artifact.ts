import type { ByteSource } from './bytes.ts';
import { bytesOf } from './bytes.ts';

/** Where a spooled result can be read again. */
export type SpoolReader = ByteSource;

export type SpooledArtifactConstructor = new (reader: SpoolReader) => SpooledArtifact;

/** A tool's text or bytes, kept outside the conversation and read in pieces. */
export class SpooledArtifact {
  readonly #reader: SpoolReader;

  constructor(reader: SpoolReader) {
    this.#reader = reader;
  }

  async stream(): Promise<ReadableStream<Uint8Array>> {
    return this.#reader.stream();
  }

  async byteLength(): Promise<number | undefined> {
    return this.#reader.byteLength();
  }

  asBytes(): Promise<Uint8Array> {
    return bytesOf(this.#reader);
  }

  /** Its bytes as UTF-8. */
  async asText(): Promise<string> {
    return new TextDecoder().decode(await this.asBytes());
  }

  async lines(): Promise<string[]> {
    const text = await this.asText();
    if (text === '') return [];
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  }

  async head(count: number): Promise<string[]> {
    return (await this.lines()).slice(0, Math.max(0, count));
  }

  async tail(count: number): Promise<string[]> {
    return count <= 0 ? [] : (await this.lines()).slice(-count);
  }

  /** Its size, for logs; never its content. */
  toJSON(): Record<string, unknown> {
    const size = this.#reader.byteLength();
    return { type: 'spooled_artifact', ...(typeof size === 'number' ? { byteLength: size } : {}) };
  }
}
