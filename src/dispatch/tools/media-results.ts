import type { AnyAgentTool, FunctionResponsePart, MediaPart, ToolResult } from '../../contracts/index.ts';
import type { RawMedia } from '../records/index.ts';
import { bytesInMemory, Media } from '../records/index.ts';
import type { Tool } from './tool.ts';

/** Where a part keeps what Media knows beyond bytes and type. */
const META = 'dispatchMedia';

const contracts = new WeakMap<Tool, AnyAgentTool>();

/** The tool as an agent runs it: Media that its handler returns go into the log with their bytes and their trust. */
export function agentContract(tool: Tool): AnyAgentTool {
  const { contract, returnsMedia } = tool;
  const { execute } = contract;
  if (!returnsMedia || !execute) return contract;
  let wrapped = contracts.get(tool);
  if (!wrapped) {
    wrapped = {
      ...contract,
      execute: async (args, context) => {
        const value = await execute.call(contract, args, context);
        return isMedia(value) ? resultOf(value) : value;
      },
    };
    contracts.set(tool, wrapped);
  }
  return wrapped;
}

/**
 * The Media that the log has of a call. Only of a tool that makes Media by itself: what comes from elsewhere may say
 * of its bytes what it likes.
 */
export function mediaOfResponse(tool: Tool, { content = [], isError }: FunctionResponsePart): unknown {
  if (!tool.returnsMedia || isError || content.length === 0) return undefined;
  const media: Media[] = [];
  let isList = false;
  for (const part of content) {
    const kept = part.type === 'media' ? part._meta?.[META] : undefined;
    if (part.type !== 'media' || part.data === undefined || !isKept(kept)) return undefined;
    const reader = bytesInMemory(Buffer.from(part.data, 'base64'));
    isList ||= kept.isList;
    media.push(new Media({ ...kept.media, reader }));
  }
  return isList ? media : media[0];
}

interface Kept {
  isList: boolean;
  media: Omit<RawMedia, 'reader'>;
}

function isKept(value: unknown): value is Kept {
  return typeof value === 'object' && value !== null && 'media' in value;
}

function isMedia(value: unknown): value is Media | Media[] {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => item instanceof Media);
  return value instanceof Media;
}

async function resultOf(value: Media | Media[]): Promise<ToolResult> {
  const isList = Array.isArray(value);
  const content = (isList ? value : [value]).map(async (item): Promise<MediaPart> => {
    const kept = { isList, media: item.toJSON() };
    return { type: 'media', mimeType: item.mimeType, data: await item.asBase64(), _meta: { [META]: kept } };
  });
  return { content: await Promise.all(content) };
}
