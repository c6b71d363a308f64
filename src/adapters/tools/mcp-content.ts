import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { ContentPart, ToolResult } from '../../contracts/index.ts';

/** What a server's tool said, as a tool's result here. */
export function toToolResult(result: CallToolResult): ToolResult {
  const content = result.content.flatMap((block) => toPart(block) ?? []);
  return {
    content,
    ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
    ...(result.isError ? { isError: true, errorType: 'failed' } : {}),
  };
}

function toPart(block: ContentBlock): ContentPart | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'media', mimeType: block.mimeType, data: block.data };
    case 'resource': {
      const { resource } = block;
      const mimeType = resource.mimeType === undefined ? {} : { mimeType: resource.mimeType };
      if ('text' in resource) return { type: 'reference', text: resource.text, uri: resource.uri, ...mimeType };
      return { type: 'media', mimeType: resource.mimeType ?? 'application/octet-stream', data: resource.blob };
    }
    case 'resource_link': {
      const mimeType = block.mimeType === undefined ? {} : { mimeType: block.mimeType };
      return { type: 'reference', text: block.description ?? block.title ?? block.name, uri: block.uri, ...mimeType };
    }
    default:
      return undefined;
  }
}
