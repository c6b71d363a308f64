import type { DispatchExecutorFn, SpoolStore } from '../../dispatch/index.ts';
import { askHttp } from './chat-http.ts';
import { chatRun } from './chat-run.ts';
import type { OpenAIChatCompletionsOptions, Resolved } from './options.ts';
import { baseOf, checkBatteryOptions, OPENAI_STASH_KEY, resolve } from './options.ts';

/** An executor over any Chat Completions server, written against the same contract as one of your own. */
export class OpenAIChatCompletionsAdapter {
  readonly #base: OpenAIChatCompletionsOptions & { spoolStore: SpoolStore };

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS` */
  constructor(options: OpenAIChatCompletionsOptions) {
    this.#base = baseOf(options);
  }

  /**
   * The function for `executorCallback` or `dispatchAgent`. Settings of one turn go into its stash, under
   * `OPENAI_STASH_KEY`; what does not fit there is a nack.
   * @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS`
   */
  executor(overrides: Partial<OpenAIChatCompletionsOptions> = {}): DispatchExecutorFn {
    checkBatteryOptions(overrides, false);
    return (context, helpers) => {
      let settings: Resolved<OpenAIChatCompletionsOptions>;
      return chatRun(
        context,
        helpers,
        'openai',
        () => {
          settings = resolve(this.#base, overrides, context.stash, OPENAI_STASH_KEY);
          return settings;
        },
        (body, signal) => askHttp(settings, body, signal, helpers),
      );
    };
  }
}
