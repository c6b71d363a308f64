import type { OpenAIChatCompletionsOptions } from '../../src/adapters/batteries/index.ts';
import { OpenAIChatCompletionsAdapter } from '../../src/adapters/batteries/index.ts';
import { Tool } from '../../src/dispatch/index.ts';
import type { Reply } from './chat-server.ts';
import { ChatServer } from './chat-server.ts';
import { conversation, message } from './kit.ts';

export const hello = () => conversation(message('u', 'Hello?', 'user'));
export const clock = new Tool({ name: 'clock', description: 'Tells the time.', handler: () => 'noon' });

/** A server with a script, and adapters that ask it. */
export async function serve(...replies: Reply[]) {
  const server = await ChatServer.start(...replies);
  const adapter = (more: Partial<OpenAIChatCompletionsOptions> = {}) =>
    new OpenAIChatCompletionsAdapter({
      model: 'small',
      apiKey: 'sk-test',
      baseUrl: server.baseUrl,
      autoAck: true,
      ...more,
    });
  return { server, adapter, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
