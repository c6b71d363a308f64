import { unreachable } from '../../../session/index.ts';
import type { AgentAsModel, ModelPart } from './agent-types.ts';

type Answer = Awaited<ReturnType<AgentAsModel['doGenerate']>>;
type Words = Extract<Answer['content'][number], { type: 'text' | 'reasoning' }>;

/**
 * The parts of a stream as one answer: words in blocks, without those that were replaced.
 * @throws what the stream failed with, or has as a part `error`
 */
export async function wholeAnswer(stream: ReadableStream<ModelPart>): Promise<Answer> {
  const answer: Partial<Answer> = {};
  let content: Answer['content'] = [];
  const blocks = new Map<string, Words>();
  for await (const part of stream) {
    switch (part.type) {
      case 'stream-start':
        answer.warnings = part.warnings;
        break;
      case 'response-metadata': {
        const { id, timestamp, modelId } = part;
        answer.response = { id, timestamp, modelId };
        break;
      }
      case 'text-start':
      case 'reasoning-start': {
        const { type, id, providerMetadata } = part;
        const words: Words = { type: type === 'text-start' ? 'text' : 'reasoning', text: '' };
        if (providerMetadata) words.providerMetadata = providerMetadata;
        blocks.set(id, words);
        content.push(words);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const words = blocks.get(part.id);
        if (words) words.text += part.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end':
        if (part.providerMetadata?.coxswain.withdrawn) content = content.filter((one) => one !== blocks.get(part.id));
        break;
      case 'error':
        throw part.error;
      case 'finish': {
        const { type: _, ...end } = part;
        Object.assign(answer, end);
        break;
      }
      case 'tool-result':
        // What has come so far of a result is not the result.
        if (!part.preliminary) content.push(part);
        break;
      case 'tool-call':
      case 'tool-approval-request':
      case 'file':
      case 'source':
      case 'custom':
        content.push(part);
        break;
      default:
        unreachable(part, 'part of an answer');
    }
  }
  return { ...answer, content } as Answer;
}
