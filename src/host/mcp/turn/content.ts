import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ContentPart } from '../../../contracts/index.ts';

/** What an agent said, as the protocol shows it. Thoughts stay inside. */
export function toBlocks(parts: readonly ContentPart[]): ContentBlock[] {
  return parts.flatMap((part) => toBlock(part) ?? []);
}

function toBlock(part: ContentPart): ContentBlock | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const { text } = part as Extract<ContentPart, { type: 'text' }>;
      return text === '' ? undefined : { type: 'text', text };
    }
    case 'media':
      return media(part as Extract<ContentPart, { type: 'media' }>);
    case 'reference': {
      const { text, uri, mimeType, data } = part as Extract<ContentPart, { type: 'reference' }>;
      if (uri === undefined) return { type: 'text', text };
      const kind = mimeType === undefined ? {} : { mimeType };
      return { type: 'resource', resource: data === undefined ? { uri, text, ...kind } : { uri, blob: data, ...kind } };
    }
    case 'citation': {
      const { text, uri, title } = part as Extract<ContentPart, { type: 'citation' }>;
      if (uri !== undefined) return { type: 'resource_link', uri, name: title ?? uri };
      return text === undefined ? undefined : { type: 'text', text };
    }
    case 'code': {
      const { language, code } = part as Extract<ContentPart, { type: 'code' }>;
      return { type: 'text', text: `\`\`\`${language}\n${code}\n\`\`\`` };
    }
    case 'code_result':
      return { type: 'text', text: (part as Extract<ContentPart, { type: 'code_result' }>).output };
    default:
      return undefined;
  }
}

function media({ mimeType, data, uri }: Extract<ContentPart, { type: 'media' }>): ContentBlock | undefined {
  if (data === undefined) {
    return uri === undefined ? undefined : { type: 'resource_link', uri, name: uri, mimeType };
  }
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  return { type: 'resource', resource: { uri: uri ?? 'coxswain:media', blob: data, mimeType } };
}
