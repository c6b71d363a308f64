import { randomUUID } from 'node:crypto';
import type { ByteSource } from './bytes.ts';
import { bytesOf, isByteSource } from './bytes.ts';
import { RawValue } from './raw-value.ts';
import { Registry } from './registry.ts';

export const MEDIA_KINDS = ['image', 'audio', 'video', 'document'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Who vouches for the bytes. */
export const TRUST_TIERS = ['first-party', 'third-party-public', 'third-party-private'] as const;
export type TrustTier = (typeof TRUST_TIERS)[number];

/**
 * What reading the bytes may do to a model: nothing; speak to it through text inside; or reach it in ways that no
 * reader of text sees.
 */
export const MODALITY_HAZARDS = ['inert', 'extractable-instructions', 'opaque-perceptual'] as const;
export type ModalityHazard = (typeof MODALITY_HAZARDS)[number];

/** Text that somebody derived from the media: a caption, a transcript. Trusted by its own tier. */
export interface MediaStashEntry {
  value: unknown;
  trustTier: TrustTier;
  derivedFromMedia?: string;
}

export interface RawMedia {
  id?: string | undefined;
  kind: MediaKind;
  mimeType: string;
  filename: string;
  /** Opened anew for every reading. */
  reader: ByteSource;
  /** No default: whoever brings the bytes says where they come from. */
  trustTier: TrustTier;
  /** No default. */
  modalityHazard: ModalityHazard;
  /** Where it comes from, for audits. */
  source?: string | undefined;
  stash?: Readonly<Record<string, MediaStashEntry>> | undefined;
}

/** An image, sound, film or document, whose bytes are read when somebody needs them. */
export class Media {
  readonly id: string;
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly filename: string;
  readonly trustTier: TrustTier;
  readonly modalityHazard: ModalityHazard;
  readonly source: string | undefined;
  /** Pipelines put derived text here. */
  readonly stash: Registry;
  readonly #reader: ByteSource;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` */
  constructor(raw: RawMedia) {
    const value = new RawValue('Media', raw);
    this.id = value.optionalText('id') ?? randomUUID();
    this.kind = value.oneOf('kind', MEDIA_KINDS);
    this.mimeType = value.text('mimeType');
    this.filename = value.text('filename');
    this.trustTier = value.oneOf('trustTier', TRUST_TIERS);
    this.modalityHazard = value.oneOf('modalityHazard', MODALITY_HAZARDS);
    this.source = value.optionalText('source');
    for (const [key, entry] of Object.entries(raw?.stash ?? {})) {
      if (!TRUST_TIERS.includes(entry?.trustTier)) value.fault(`stash.${key}: expected a trustTier`, undefined);
    }
    this.stash = new Registry(raw?.stash);
    if (!isByteSource(raw?.reader)) value.fault('reader: expected stream() and byteLength()', undefined);
    this.#reader = raw?.reader;
    value.done();
    Object.freeze(this);
  }

  /** A fresh stream over the bytes, each time. */
  async stream(): Promise<ReadableStream<Uint8Array>> {
    return this.#reader.stream();
  }

  /** `undefined` where it is not known. */
  async byteLength(): Promise<number | undefined> {
    return this.#reader.byteLength();
  }

  async asBytes(): Promise<Uint8Array> {
    return bytesOf(this.#reader);
  }

  async asBase64(): Promise<string> {
    const bytes = await this.asBytes();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }

  /** Without the bytes. */
  toJSON(): Record<string, unknown> {
    const { id, kind, mimeType, filename, source, trustTier, modalityHazard } = this;
    return {
      id,
      kind,
      mimeType,
      filename,
      ...(source === undefined ? {} : { source }),
      trustTier,
      modalityHazard,
      stash: this.stash.all(),
    };
  }
}
