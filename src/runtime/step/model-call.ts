import type { ContentPart } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { AnswerCounter } from '../../session/index.ts';
import type { AgentContext } from '../agent/index.ts';
import { budgetUsed, modelOf, Operation, underSignal } from '../agent/index.ts';
import type { Fold } from '../log/index.ts';
import type { Model, ModelResponse, RequestDraft } from '../model/index.ts';
import { unknownEndOf } from '../model/index.ts';
import { requestAttributes, responseAttributes } from './model-telemetry.ts';
import type { ModelUser } from './model-user.ts';

/** Whether a call of the newest turn, or one that is open, waits for a person or did. */
function asksPeople({ calls }: Fold): boolean {
  for (const { asks, hostAnswers } of calls.values()) if (asks.length > 0 || hostAnswers.length > 0) return true;
  return false;
}

/** What went wrong: thrown, or told by the model. */
export interface ModelFault {
  error: unknown;
}

/** A question to a model that is under way. */
interface Asked {
  /** Nobody waits for its answer any more. */
  isOver: boolean;
}

const none: readonly never[] = [];

/** One call of a model, from the question to its last frame: what it says on the way is shown. */
export class ModelCall {
  /** Name of the model that is asked. */
  readonly name: string;
  readonly messageId: string;
  /** What it has said so far. */
  shown: ContentPart[] = [];
  readonly #context: AgentContext;
  readonly #draft: RequestDraft;
  readonly #model: Model;
  readonly #streaming: boolean;
  readonly #operation: Operation | undefined;
  readonly #counter: AnswerCounter;
  readonly #startedAt: number | undefined;
  #firstAfterMs: number | undefined;

  /**
   * `hidden`: nobody is shown what it says.
   * @throws CoxswainError `FAILED_PRECONDITION / E_NO_MODEL`
   */
  constructor(
    context: AgentContext,
    agent: ModelUser,
    draft: RequestDraft,
    { messageId, chosen, hidden = false }: { messageId: string; chosen: string; hidden?: boolean },
  ) {
    // A hook that has named another model means that one.
    const { model, name } = modelOf(context, agent, draft.model === chosen ? undefined : draft.model);
    const { invocation } = context;
    draft.model = name;
    this.name = name;
    this.messageId = messageId;
    this.#context = context;
    this.#draft = draft;
    this.#model = model;
    this.#counter = new AnswerCounter(invocation.engine.answerLimits);
    this.#streaming = !hidden && (invocation.options.streaming ?? true);
    const request = { name, config: draft.config, stream: this.#streaming };
    this.#operation = Operation.start('llm', `chat ${name}`, invocation.engine.telemetry, context.place.span, () =>
      requestAttributes(context, model, request),
    );
    if (this.#operation && this.#streaming) this.#startedAt = performance.now();
  }

  /**
   * Asks. Undefined: the model has ended without an answer; what it says after an abort is heard by nobody.
   * @throws whatever the model throws; the reason of the abort; CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`
   */
  answer(): Promise<ModelResponse | undefined> {
    let over: (() => void) | undefined;
    const asked: Asked = { isOver: false };
    return underSignal(
      this.#context.signal,
      (own, end) => {
        over = this.#counter.watch(end);
        return this.#pump(own, end, asked);
      },
      () => {
        asked.isOver = true;
        over?.();
      },
    );
  }

  /** Why this is no answer to go on with. */
  faultIn(response: ModelResponse | undefined): ModelFault | undefined {
    if (response?.errorCode !== undefined) return { error: response };
    if (response) {
      const failure = unknownEndOf(response);
      return failure && { error: failure };
    }
    const message = `model ${this.name} ended without an answer`;
    return { error: new CoxswainError('UNAVAILABLE', 'E_MODEL_EMPTY', message) };
  }

  /** It is over. */
  end(response: ModelResponse | undefined, fault: ModelFault | undefined): void {
    const { signal } = this.#context;
    const told = response && this.#operation ? responseAttributes(response, this.#firstAfterMs) : undefined;
    if (!fault) this.#operation?.end(undefined, told);
    else this.#operation?.end(signal.aborted ? signal.reason : fault.error, told);
  }

  /** Reads the model's frames to the last one, showing deltas on the way. */
  async #pump(
    signal: AbortSignal,
    end: (reason: unknown) => void,
    asked: Readonly<Asked>,
  ): Promise<ModelResponse | undefined> {
    const { engine, fold } = this.#context.invocation;
    const { answerLimits, limits } = engine;
    const options = {
      stream: this.#streaming,
      signal,
      ...(answerLimits ? { answerLimits } : {}),
      budgetUsed: budgetUsed(fold, limits),
      pauses: asksPeople(fold),
    };
    for await (const frame of this.#model.generate(this.#draft, options)) {
      if (asked.isOver) return undefined;
      let parts: readonly ContentPart[] = none;
      try {
        parts = frame.content?.parts ?? none;
        if (frame.partial) this.#counter.add(parts);
        else this.#counter.whole(parts);
      } catch (error) {
        // One that does not let itself be left holds up nobody.
        end(error);
        return undefined;
      }
      if (!frame.partial) return frame;
      if (this.#startedAt !== undefined) this.#firstAfterMs ??= performance.now() - this.#startedAt;
      const room = this.#show(parts);
      if (room) await room;
    }
    return undefined;
  }

  /** Shows one frame's deltas. Apart from the loop, which carries its variables over every wait. */
  #show(parts: readonly ContentPart[]): Promise<void> | undefined {
    let room: Promise<void> | undefined;
    for (const part of parts) {
      const index = this.#grow(part);
      // A copy: a model may use its own part again.
      if (index >= 0 && this.#streaming) room = this.#context.delta(this.messageId, index, { ...part });
    }
    return room;
  }

  /** Adds a delta to what has been shown; its place among the parts, or -1 for what is not shown in pieces. */
  #grow(delta: ContentPart): number {
    const last = this.shown.at(-1);
    if (delta.type === 'text') {
      if (last?.type === 'text') last.text += delta.text;
      else this.shown = this.shown.concat({ type: 'text', text: delta.text });
    } else if (delta.type === 'thought') {
      if (last?.type === 'thought') last.thought += delta.thought;
      else this.shown = this.shown.concat({ type: 'thought', thought: delta.thought });
    } else return -1;
    return this.shown.length - 1;
  }
}
