import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { CacheMark } from '../content/index.ts';

/** As many as the API takes. */
const MAX_MARKS = 4;

interface Marked {
  cache_control?: unknown;
}

/**
 * Marks where the beginning of this request ends that the next one will have, too: tools, system, the newest words, and the newest of the step
 * before, since the provider looks back no further than 20 blocks. Who marks by himself is left to it.
 */
export function markCache(body: Record<string, unknown> & { messages: MessageParam[] }, mark: CacheMark): void {
  const tools = Array.isArray(body.tools) ? (body.tools as Marked[]) : [];
  if (body.cache_control !== undefined || tools.some((tool) => tool.cache_control !== undefined)) return;
  let left = MAX_MARKS;
  const last = tools.at(-1);
  if (last) {
    body.tools = [...tools.slice(0, -1), { ...last, cache_control: mark }];
    left--;
  }
  if (typeof body.system === 'string') {
    body.system = [{ type: 'text', text: body.system, cache_control: mark }];
    left--;
  }
  const users = body.messages.filter(({ role }) => role === 'user').slice(-Math.min(2, left));
  for (const { content } of users) {
    const block: ContentBlockParam | undefined = Array.isArray(content) ? content.at(-1) : undefined;
    if (block) Object.assign(block, { cache_control: mark });
  }
}
