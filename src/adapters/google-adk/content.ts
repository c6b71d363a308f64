import type { ContentPart, Usage } from '../../contracts/index.ts';
import type { Message } from '../../dispatch/index.ts';
import type { AdkContent, AdkEvent, AdkPart } from './types.ts';

/** Part by part; calls and their responses are the gate's to tell. */
export function partsOf(content: AdkContent | undefined): ContentPart[] {
  return (content?.parts ?? []).flatMap(partOf);
}

function partOf(part: AdkPart): ContentPart[] {
  const { text, thought, inlineData, fileData, executableCode, codeExecutionResult } = part;
  if (text !== undefined) {
    if (text === '') return [];
    return [thought ? { type: 'thought', thought: text } : { type: 'text', text }];
  }
  if (inlineData?.data !== undefined) {
    return [{ type: 'media', mimeType: inlineData.mimeType ?? 'application/octet-stream', data: inlineData.data }];
  }
  if (fileData?.fileUri !== undefined) {
    const { fileUri, mimeType } = fileData;
    return [{ type: 'reference', text: fileUri, uri: fileUri, ...(mimeType === undefined ? {} : { mimeType }) }];
  }
  if (executableCode?.code !== undefined) {
    return [{ type: 'code', language: (executableCode.language ?? '').toLowerCase(), code: executableCode.code }];
  }
  if (codeExecutionResult) return [{ type: 'code_result', output: codeExecutionResult.output ?? '' }];
  return [];
}

/** A message for the real package: words and bytes. */
export async function contentOf(message: Message): Promise<AdkContent> {
  const parts: AdkPart[] = message.content === undefined ? [] : [{ text: message.content }];
  for (const media of message.attachments) {
    parts.push({ inlineData: { mimeType: media.mimeType, data: await media.asBase64() } });
  }
  return { role: message.role === 'user' ? 'user' : 'model', parts };
}

export function googleUsage({ usageMetadata }: AdkEvent): Usage | undefined {
  if (!usageMetadata) return undefined;
  const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount, thoughtsTokenCount } = usageMetadata;
  const usage: Usage = {
    ...(promptTokenCount === undefined ? {} : { inputTokens: promptTokenCount }),
    // Output counts what was thought, as with every provider here.
    ...(candidatesTokenCount === undefined ? {} : { outputTokens: candidatesTokenCount + (thoughtsTokenCount ?? 0) }),
    ...(cachedContentTokenCount === undefined ? {} : { cachedReadTokens: cachedContentTokenCount }),
    ...(thoughtsTokenCount === undefined ? {} : { thoughtTokens: thoughtsTokenCount }),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}
