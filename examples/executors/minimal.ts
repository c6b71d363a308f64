import type { DispatchExecutorFn } from 'coxswain/dispatch';
import { Message } from 'coxswain/dispatch';
import { streamChat } from './chat-stream.ts';

/** One question, one streamed answer, nothing but `fetch`. */
export const minimalExecutor: DispatchExecutorFn = async (ctx, { reportMessage }) => {
  const id = crypto.randomUUID();
  const messages = [...ctx.turnMessages].map(({ role, content }) => ({ role, content: content ?? '' }));
  let text = '';
  try {
    for await (const { content } of streamChat({ messages }, ctx.abortSignal)) {
      if (!content) continue;
      text += content;
      reportMessage(id, content);
    }
    reportMessage(id, '', { isComplete: true });
    const now = new Date();
    await ctx.storeMessage(new Message({ id, role: 'assistant', content: text, createdAt: now, updatedAt: now }));
    ctx.ack();
  } catch (error) {
    ctx.nack(error);
  }
};
