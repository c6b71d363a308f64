/** Calls and questions that one stream of a page knows as shown: of more, the newest. */
export const MOST_KNOWN = 10_000;

/** Messages that grow at a time, and parts of one. */
const MOST_GROWING = 1_000;

/** Whether the words of a part are shown while they come: of what is more, they are shown when the message is whole. */
export function mayGrow(
  messages: ReadonlyMap<string, ReadonlyMap<number, unknown>>,
  messageId: string,
  part: number,
): boolean {
  const parts = messages.get(messageId);
  if (!parts) return messages.size < MOST_GROWING;
  return parts.size < MOST_GROWING || parts.has(part);
}
