import type { Joining } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** What is shown and not stored, for a consumer that is behind: pieces as one, the newest update of a call alone. */
export const joinedPartials: Joining<StoredEvent> = {
  keyOf({ partial, id, author, path, customMetadata, content }) {
    if (!partial) return undefined;
    const { part, toolUpdate } = (customMetadata ?? {}) as { part?: number; toolUpdate?: { callId?: string } };
    if (toolUpdate) return JSON.stringify(['update', author, path, toolUpdate.callId]);
    const type = content?.parts.length === 1 ? content.parts[0]?.type : undefined;
    return type === 'text' || type === 'thought' ? JSON.stringify([type, path, id, part]) : undefined;
  },
  join(waiting, next) {
    const [before] = waiting.content?.parts ?? [];
    const [after] = next.content?.parts ?? [];
    if (before?.type === 'text' && after?.type === 'text')
      return { ...waiting, content: { role: 'model', parts: [{ ...before, text: before.text + after.text }] } };
    if (before?.type === 'thought' && after?.type === 'thought')
      return {
        ...waiting,
        content: { role: 'model', parts: [{ ...before, thought: before.thought + after.thought }] },
      };
    const updates = {
      ...(waiting.customMetadata?.toolUpdate as object),
      ...(next.customMetadata?.toolUpdate as object),
    };
    return { ...next, customMetadata: { ...next.customMetadata, toolUpdate: updates } };
  },
};
