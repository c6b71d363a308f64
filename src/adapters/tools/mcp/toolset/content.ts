import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ContentPart, ToolResult } from '../../../../contracts/index.ts';

/** What a server's tool said, as a tool's result here. */
export function toToolResult(result: CallToolResult): ToolResult {
  const content = result.content.map(toPart);
  return {
    content,
    ...(result.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
    ...(result.isError ? { isError: true, errorType: 'failed' } : {}),
  };
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'media', mimeType: block.mimeType, data: block.data };
    case 'resource':
      return resourcePart(block.resource);
    case 'resource_link': {
      const { uri, name, title, description, size, annotations, mimeType } = block;
      const called = title ?? name;
      const link = { name, ...given({ title, size, annotations }) };
      const text = description === undefined ? called : `${called}: ${description}`;
      return { type: 'reference', text, uri, ...given({ mimeType }), _meta: { 'mcp/link': link } };
    }
    default:
      // Named rather than dropped: a model that is not told would take the answer for the whole of it.
      return {
        type: 'text',
        text: `[a part of type ${JSON.stringify((block as { type: unknown }).type)} was left out]`,
      };
  }
}

/** The contents of a resource, text or bytes. */
export function resourcePart(resource: ReadResourceResult['contents'][number]): ContentPart {
  const { uri, mimeType } = resource;
  if ('text' in resource) return { type: 'reference', text: resource.text, uri, ...given({ mimeType }) };
  return { type: 'media', mimeType: mimeType ?? 'application/octet-stream', data: resource.blob, uri };
}

/** Those that are there. */
function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
