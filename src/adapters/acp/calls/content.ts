import type { ContentBlock, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ContentPart, DisplayContent } from '../../../contracts/index.ts';
import type { Message } from '../../../dispatch/index.ts';
import { bytesInMemory, Media } from '../../../dispatch/index.ts';

export interface PromptKinds {
  image?: boolean | undefined;
  audio?: boolean | undefined;
}

/** A message as blocks of a prompt; what the agent does not take is named in words. */
export async function blocksOf(message: Message, takes: PromptKinds): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  if (message.content !== undefined) blocks.push({ type: 'text', text: message.content });
  for (const media of message.attachments) {
    const { kind, mimeType, filename } = media;
    if ((kind === 'image' && takes.image) || (kind === 'audio' && takes.audio)) {
      blocks.push({ type: kind, mimeType, data: await media.asBase64() });
    } else blocks.push({ type: 'text', text: `[${filename} (${mimeType}): this agent takes no ${kind}]` });
  }
  return blocks;
}

/** Words of a block; undefined for bytes. */
export function textOfBlock(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}]`;
    default:
      return undefined;
  }
}

/** Bytes of a block: whatever an agent sends is somebody else's. */
export function mediaOfBlock(block: ContentBlock): Media | undefined {
  if (block.type !== 'image' && block.type !== 'audio') return undefined;
  return new Media({
    kind: block.type,
    mimeType: block.mimeType,
    filename: block.type,
    reader: bytesInMemory(Buffer.from(block.data, 'base64')),
    trustTier: 'third-party-public',
    modalityHazard: 'opaque-perceptual',
  });
}

/** A block of the protocol as a part of a message. */
export function partOfBlock(block: ContentBlock): ContentPart {
  if (block.type === 'image' || block.type === 'audio') {
    return { type: 'media', mimeType: block.mimeType, data: block.data };
  }
  if (block.type === 'resource_link') {
    const { uri, name, title, mimeType } = block;
    return { type: 'reference', text: title ?? name, uri, ...(mimeType ? { mimeType } : {}) };
  }
  if (block.type === 'resource') {
    const { resource } = block;
    const { uri, mimeType } = resource;
    const kind = mimeType ? { mimeType } : {};
    if ('text' in resource) return { type: 'reference', text: resource.text, uri, ...kind };
    return { type: 'reference', text: uri, uri, data: resource.blob, ...kind };
  }
  return { type: 'text', text: textOfBlock(block) ?? '' };
}

/** What a call has produced: for models and for people. */
export function contentOfBlocks(blocks: readonly ToolCallContent[]): {
  content: ContentPart[];
  display: DisplayContent[];
} {
  const content: ContentPart[] = [];
  const display: DisplayContent[] = [];
  for (const block of blocks) {
    if (block.type === 'content') content.push(partOfBlock(block.content));
    else if (block.type === 'diff') display.push(diffOf(block));
  }
  return { content, display };
}

export function diffOf({ path, oldText, newText }: { path: string; oldText?: string | null; newText: string }): {
  type: 'diff';
  path: string;
  oldText?: string;
  newText: string;
} {
  return { type: 'diff', path, ...(typeof oldText === 'string' ? { oldText } : {}), newText };
}
