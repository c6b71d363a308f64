import type { DispatchExecutorFn, SpoolStore } from '../../dispatch/index.ts';
import type { ChatChunk } from '../models/openai/index.ts';
import { chatRun } from './chat-run.ts';
import type { ChatOptions } from './options.ts';
import { baseOf, checkBatteryOptions, resolve, WEB_LLM_STASH_KEY } from './options.ts';

/** As much of a WebLLM engine as is needed: `CreateMLCEngine` makes one. */
export interface WebLLMEngine {
  chat: { completions: { create(request: never): Promise<AsyncIterable<unknown> | object> } };
  /** Stops what is being generated. */
  interruptGenerate?(): unknown;
}

export interface WebLLMChatCompletionsOptions extends ChatOptions {
  /** The engine, or what makes it; asked once. */
  engine: WebLLMEngine | (() => WebLLMEngine | Promise<WebLLMEngine>);
}

/** An executor over a model in this very process. */
export class WebLLMChatCompletionsAdapter {
  readonly #base: WebLLMChatCompletionsOptions & { spoolStore: SpoolStore };
  #engine: Promise<WebLLMEngine> | undefined;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS` */
  constructor(options: WebLLMChatCompletionsOptions) {
    this.#base = baseOf(options);
  }

  /**
   * As that of `OpenAIChatCompletionsAdapter`; the stash's key is `WEB_LLM_STASH_KEY`.
   * @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS`
   */
  executor(overrides: Partial<Omit<WebLLMChatCompletionsOptions, 'engine'>> = {}): DispatchExecutorFn {
    checkBatteryOptions(overrides, false);
    return (context, helpers) =>
      chatRun(
        context,
        helpers,
        'web-llm',
        () => resolve<WebLLMChatCompletionsOptions>(this.#base, overrides, context.stash, WEB_LLM_STASH_KEY),
        async (body, signal) => {
          const engine = await this.#load();
          const interrupt = () => void engine.interruptGenerate?.();
          signal.addEventListener('abort', interrupt, { once: true });
          const answer = await engine.chat.completions.create(body as never);
          let done = false;
          async function* chunks(): AsyncGenerator<ChatChunk> {
            try {
              if (Symbol.asyncIterator in answer) yield* answer as AsyncIterable<ChatChunk>;
              else yield answer as ChatChunk;
              done = true;
            } finally {
              signal.removeEventListener('abort', interrupt);
            }
          }
          return { chunks: chunks(), ended: () => done };
        },
      );
  }

  #load(): Promise<WebLLMEngine> {
    const { engine } = this.#base;
    this.#engine ??= Promise.resolve(typeof engine === 'function' ? engine() : engine);
    return this.#engine;
  }
}
