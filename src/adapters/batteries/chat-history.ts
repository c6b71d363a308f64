import type { DispatchContext, ToolCall } from '../../dispatch/index.ts';
import { enveloped, Media, Message, SpooledArtifact, UNTRUSTED_NOTE } from '../../dispatch/index.ts';
import { capText } from '../../gate/index.ts';
import type { ChatBlock, MediaOptions } from './chat-media.ts';
import { mediaBlocks } from './chat-media.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | ChatBlock[] | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/**
 * A turn's conversation as Chat Completions wants it: messages and tool calls by time, calls of one moment as one
 * assistant message, each followed by its result.
 */
export async function chatHistory(context: DispatchContext, options: MediaOptions): Promise<ChatMessage[]> {
  const items = [...context.turnMessages, ...context.turnToolCalls].sort(byTime);
  const messages: ChatMessage[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item instanceof Message) {
      messages.push(await chatMessage(item, options));
      at++;
      continue;
    }
    const calls: ToolCall[] = [];
    for (
      let next = items[at];
      next && !(next instanceof Message) && sameTime(next, calls[0] ?? next);
      next = items[at]
    ) {
      calls.push(next);
      at++;
    }
    await addCalls(context, messages, calls, options);
  }
  const system = [context.systemPrompt, ...context.standingInstructions].filter((text) => text !== '');
  if (JSON.stringify(messages).includes('<untrusted_')) system.push(UNTRUSTED_NOTE);
  if (system.length > 0) messages.unshift({ role: 'system', content: system.join('\n\n') });
  return messages;
}

/** A time after everything that the conversation holds: order must not hang on the clock's grain. */
export function nextTime(context: DispatchContext): number {
  const times = [...context.turnMessages, ...context.turnToolCalls].map(({ createdAt }) => createdAt.getTime());
  return Math.max(Date.now(), ...times.map((time) => time + 1));
}

async function chatMessage(message: Message, options: MediaOptions): Promise<ChatMessage> {
  const { role, content = '', attachments } = message;
  if (attachments.length === 0) return { role, content };
  const blocks: ChatBlock[] = content === '' ? [] : [{ type: 'text', text: content }];
  for (const media of attachments) blocks.push(...(await mediaBlocks(media, options, role === 'user')));
  return { role, content: blocks };
}

async function addCalls(
  context: DispatchContext,
  messages: ChatMessage[],
  calls: readonly ToolCall[],
  options: MediaOptions,
): Promise<void> {
  const tool_calls = calls.map(({ id, tool, args }) => ({
    id,
    type: 'function' as const,
    function: { name: options.aliasOf(tool), arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
  }));
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !last.tool_calls) last.tool_calls = tool_calls;
  else messages.push({ role: 'assistant', content: null, tool_calls });
  const shown: ChatBlock[] = [];
  for (const call of calls) {
    const media = mediaOf(call.results);
    // A tool message holds text only: what is seen or heard follows as a message.
    for (const item of media) shown.push(...(await mediaBlocks(item, options, true)));
    const content =
      media.length > 0 ? `${media.length} media, in the message that follows` : await textOf(context, call, options);
    messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
  if (shown.length > 0) messages.push({ role: 'user', content: shown });
}

function mediaOf(results: unknown): Media[] {
  const list = Array.isArray(results) ? results : [results];
  return list.filter((item) => item instanceof Media);
}

/** A tool's words are its own: they stand as data, unless the operator trusts the tool. */
async function textOf(context: DispatchContext, call: ToolCall, { nonce }: MediaOptions): Promise<string> {
  const list: unknown[] = Array.isArray(call.results) ? call.results : [call.results];
  const isArtifacts = list.length > 0 && list.every((item) => item instanceof SpooledArtifact);
  const whole = isArtifacts
    ? (await Promise.all(list.map((item) => (item as SpooledArtifact).asText()))).join('\n')
    : typeof call.results === 'string'
      ? call.results
      : JSON.stringify(call.results ?? null);
  // In an agent the tool's result has that size already.
  const text = capText(whole, context.bounds.maxResultBytes, "the rest is where the tool's result is kept");
  return shownText(context, call, text, nonce);
}

function shownText(context: DispatchContext, call: ToolCall, text: string, nonce: MediaOptions['nonce']): string {
  if (context.tools.get(call.tool)?.trusted) return text;
  return enveloped(text, { kind: 'tool_result', trusted: false, attributes: { tool: call.tool }, nonce });
}

type Timed = { createdAt: Date };

function byTime(a: Timed, b: Timed): number {
  return a.createdAt.getTime() - b.createdAt.getTime();
}

function sameTime(a: Timed, b: Timed): boolean {
  return byTime(a, b) === 0;
}
