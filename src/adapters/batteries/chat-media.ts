import type { Media, UnsupportedMediaPolicy } from '../../dispatch/index.ts';
import {
  attributesOf,
  envelopeMarks,
  isFirstParty,
  safeFilename,
  safeMimeType,
  textInsteadOf,
} from '../../dispatch/index.ts';
import { unreachable } from '../../session/index.ts';
import { audioFormat } from '../models/openai/index.ts';

/** One part of a message of Chat Completions. */
export type ChatBlock = Record<string, unknown> & { type: string };

export interface MediaOptions {
  policy: UnsupportedMediaPolicy | undefined;
  nonce: (() => string) | undefined;
  warn(message: string): void;
  /** The provider's name of a tool. */
  aliasOf(tool: string): string;
}

/**
 * Media as the API takes them, between marks of where they come from; bytes go as they are. What it does not take is
 * told in words, by policy.
 * @throws CoxswainError `UNIMPLEMENTED / E_UNSUPPORTED_MEDIA_MODALITY`
 */
export async function mediaBlocks(media: Media, options: MediaOptions, isInput: boolean): Promise<ChatBlock[]> {
  const native = isInput ? await nativeBlock(media) : undefined;
  if (!native) {
    const { policy, warn, nonce } = options;
    return [{ type: 'text', text: await textInsteadOf(media, policy, { warn, ...(nonce ? { nonce } : {}) }) }];
  }
  const { open, close } = envelopeMarks({
    kind: 'media',
    trusted: isFirstParty(media.trustTier),
    attributes: attributesOf(media),
    nonce: options.nonce,
  });
  return [{ type: 'text', text: open }, native, { type: 'text', text: close }];
}

async function nativeBlock(media: Media): Promise<ChatBlock | undefined> {
  const mimeType = safeMimeType(media.mimeType);
  switch (media.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${await media.asBase64()}` } };
    case 'audio': {
      const format = audioFormat(mimeType);
      return format && { type: 'input_audio', input_audio: { data: await media.asBase64(), format } };
    }
    case 'document': {
      const file_data = `data:${mimeType};base64,${await media.asBase64()}`;
      return { type: 'file', file: { filename: safeFilename(media.filename), file_data } };
    }
    case 'video':
      return undefined;
    default:
      return unreachable(media.kind, 'a kind of media');
  }
}
