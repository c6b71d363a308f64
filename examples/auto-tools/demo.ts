import type { Model } from 'coxswain';
import type { FunctionTools } from 'coxswain/auto-tools';
import { Chat, generateWithAutoTools, streamWithAutoTools } from 'coxswain/auto-tools';

/** Asks three things: in one go, going on from there, and streamed. */
export async function demo(model: Model, tools: FunctionTools, write: (text: string) => void): Promise<void> {
  const options = { model, tools, turnLimit: 5 };
  const first = await generateWithAutoTools("What's the weather in San Francisco?", options);
  write(`${first.text}\n  (${first.steps} model calls)\n`);

  const chat = Chat.new(options, first.chat.history).addTurn('user', 'And in Tokyo, and what time is it there?');
  const second = await generateWithAutoTools(chat, {});
  write(`${second.text}\n  (${second.steps} model calls)\n`);

  const stream = streamWithAutoTools('What is 17 * 23, less 1?', options);
  for await (const piece of stream) write(piece);
  write(`\n  (${(await stream.response).steps} model calls)\n`);
}
