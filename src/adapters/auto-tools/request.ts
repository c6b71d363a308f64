import type { Content, Usage } from '../../contracts/index.ts';
import { CoxswainError, textOfParts } from '../../contracts/index.ts';
import type { Model, StoredEvent } from '../../runtime/index.ts';
import { addUsage } from '../../runtime/index.ts';
import { kindOf } from '../../session/index.ts';
import { Chat } from './chat.ts';
import type { ChatWithOptions } from './conversation.ts';
import { split } from './conversation.ts';
import { AutoToolsError, loopFailure } from './failure.ts';
import type { AutoToolsOptions, AutoToolsPhase, GenerateOptions } from './options.ts';
import { DEFAULT_TURN_LIMIT } from './options.ts';
import type { AutoToolsResponse } from './response.ts';
import { runLoop } from './run-loop.ts';
import { tell } from './tell.ts';

export interface RequestWatch {
  phase?: (phase: AutoToolsPhase) => void;
  /** A piece of the text of the model call under way. */
  delta?: (text: string) => void;
  /** A model call has spoken: with calls in it, it was not the answer. */
  spoken?: (content: Content, isAnswer: boolean) => void;
}

/**
 * Asks until there is an answer.
 * @throws AutoToolsError
 */
export async function request(
  { chat, options }: ChatWithOptions,
  streaming: boolean,
  watch: RequestWatch,
): Promise<AutoToolsResponse> {
  const turnLimit = checkLimit(options.turnLimit ?? DEFAULT_TURN_LIMIT);
  const progress = new Progress(options, watch);
  try {
    const model = await modelOfOptions(options);
    const loop = {
      ...options,
      model,
      streaming,
      // The one cap that counts here: the usual smaller ones must not come first, nor a larger one after it.
      limits: { steps: turnLimit, maxLlmCalls: Math.max(1, turnLimit) },
    };
    const end = await runLoop(split(chat.history), loop, progress);
    const whole = end.contents ? Chat.new(chat.options, end.contents) : chat;
    const failure = loopFailure(end, turnLimit, options.signal);
    if (failure) throw new AutoToolsError(failure, whole);
    return progress.response(whole);
  } finally {
    progress.enter('ended');
  }
}

/** @throws CoxswainError `NOT_FOUND / E_NO_MODEL` */
export async function modelOfOptions({ model, models }: GenerateOptions): Promise<Model> {
  if (typeof model !== 'string') return model;
  if (!models) {
    const { keyOfModel, MODEL_KEYS, modelFromEnv } = await import('../models/index.ts');
    const found = modelFromEnv({ ...process.env, COXSWAIN_MODEL: '' }).registry.models(model);
    if (found) return found;
    const keys = keyOfModel(model) ?? MODEL_KEYS.join(', ');
    const message = `no provider is set up for model ${model}: set ${keys} in the environment, or give "models", or the model itself`;
    throw new CoxswainError('NOT_FOUND', 'E_NO_MODEL', message);
  }
  const found = models(model);
  if (found) return found;
  throw new CoxswainError('NOT_FOUND', 'E_NO_MODEL', `models knows no model named ${model}`);
}

/** What has been seen of a run. */
class Progress {
  readonly #options: AutoToolsOptions;
  readonly #watch: RequestWatch;
  #phase: AutoToolsPhase | undefined;
  #steps = 0;
  #usage: Usage = {};
  #answer: StoredEvent | undefined;
  #last: StoredEvent | undefined;

  constructor(options: AutoToolsOptions, watch: RequestWatch) {
    this.#options = options;
    this.#watch = watch;
    this.enter('awaiting_model_call');
  }

  enter(phase: AutoToolsPhase): void {
    if (this.#phase === phase) return;
    this.#phase = phase;
    this.#watch.phase?.(phase);
    tell('onPhase', () => this.#options.onPhase?.(phase), this.#options.warn);
  }

  step(): void {
    if (this.#steps > 0) this.enter('awaiting_final_response');
    this.#steps++;
  }

  event(event: StoredEvent): void {
    const { content } = event;
    if (event.usage && !event.partial) this.#usage = addUsage(this.#usage, event.usage);
    if (content?.role !== 'model' || event.path.includes('/')) return;
    if (event.partial) {
      const text = textOfParts(content.parts);
      if (text !== '') this.#watch.delta?.(text);
      return;
    }
    if (event.interrupted) return;
    const isAnswer = !content.parts.some((part) => part.type === 'function_call');
    this.#last = event;
    if (isAnswer) this.#answer = event;
    else this.enter('executing_tools');
    this.#watch.spoken?.(content, isAnswer);
  }

  response(chat: Chat): AutoToolsResponse {
    const event = this.#answer ?? this.#last;
    const content: Content = event?.content ?? { role: 'model', parts: [] };
    return {
      content,
      text: textOfParts(content.parts),
      ...(event?.finishReason === undefined ? {} : { finishReason: event.finishReason }),
      ...(event?.model === undefined ? {} : { model: event.model }),
      usage: this.#usage,
      steps: this.#steps,
      chat,
    };
  }
}

function checkLimit(turnLimit: number): number {
  if (Number.isInteger(turnLimit) && turnLimit >= 0) return turnLimit;
  throw new CoxswainError(
    'INVALID_ARGUMENT',
    'E_BAD_INPUT',
    `turnLimit is a whole number from 0, not ${kindOf(turnLimit)}`,
  );
}
