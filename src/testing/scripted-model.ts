import type { Content, ContentPart, FunctionCallPart, Usage } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { Model, ModelRequest, ModelResponse } from '../runtime/index.ts';
import type { Shape } from '../session/index.ts';
import { bag, checkOptions, flag, guarded, name as isName, list } from '../session/index.ts';

/** One answer of a scripted model. */
export interface ScriptedStep {
  text?: string;
  /** Text in pieces, streamed one by one; `text` is then their sum. */
  deltas?: readonly string[];
  thought?: string;
  /** Calls: `[name, args]`, or whole parts. */
  calls?: readonly (readonly [name: string, args?: unknown] | FunctionCallPart)[];
  parts?: readonly ContentPart[];
  usage?: Usage;
  finishReason?: string;
  /** Thrown instead of an answer. */
  error?: unknown;
  /** Answered as a provider's error. */
  errorCode?: string;
  errorMessage?: string;
}

export type Script =
  | string
  | ScriptedStep
  | ((request: ModelRequest) => string | ScriptedStep | Promise<string | ScriptedStep>);

export interface ScriptedModelOptions {
  /** Answers in order, for whoever asks. */
  responses?: readonly Script[];
  /** Answers in order for each agent, by name. */
  byAgent?: Record<string, readonly Script[]>;
  name?: string;
  /** Fail with `E_SCRIPT` when there is no answer left. Default true; false: say "Mock response". */
  strict?: boolean;
}

export interface RecordedRequest extends Omit<ModelRequest, 'contents' | 'tools'> {
  /** As they were when the model was asked. */
  contents: Content[];
  tools: string[];
}

const shape: Shape<ScriptedModelOptions> = { responses: list, byAgent: bag, name: isName, strict: flag };

/**
 * A model that says what a test wrote down, records what it was asked, and knows whether it was used up. Asked more
 * often than that, it fails with `E_SCRIPT`.
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { ScriptedModel } from 'coxswain/testing';
 *
 * // First a tool call, then an answer; asked a third time, the test fails.
 * const model = new ScriptedModel([{ calls: [['refund', { order: 7 }]] }, 'Done.']);
 * new LlmAgent({ name: 'clerk', model });
 * ```
 */
export class ScriptedModel implements Model {
  readonly name: string;
  readonly requests: RecordedRequest[] = [];
  readonly #common: Script[];
  readonly #byAgent: Map<string, Script[]>;
  readonly #strict: boolean;

  constructor(options: ScriptedModelOptions | readonly Script[] = {}) {
    if (!guarded('ScriptedModel', () => Array.isArray(options)))
      checkOptions<ScriptedModelOptions>(options, 'ScriptedModel: options', shape);
    const given = Array.isArray(options)
      ? { responses: options as readonly Script[] }
      : (options as ScriptedModelOptions);
    this.name = given.name ?? 'scripted';
    this.#common = [...(given.responses ?? [])];
    this.#byAgent = new Map(Object.entries(given.byAgent ?? {}).map(([agent, steps]) => [agent, [...steps]]));
    this.#strict = given.strict ?? true;
  }

  /** Answers that nobody asked for yet. */
  get remaining(): number {
    return [...this.#byAgent.values()].reduce((sum, steps) => sum + steps.length, this.#common.length);
  }

  /** @throws CoxswainError if answers are left */
  assertUsedUp(): void {
    if (this.remaining > 0) {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_SCRIPT',
        `${this.remaining} scripted answers were not asked for`,
      );
    }
  }

  async *generate(
    request: ModelRequest,
    options: { stream: boolean; signal: AbortSignal },
  ): AsyncGenerator<ModelResponse> {
    const { contents, tools, ...rest } = request;
    this.requests.push({ ...rest, contents: structuredClone(contents) as Content[], tools: [...tools.keys()] });
    const step = await this.#next(request);
    if (step.error !== undefined) throw step.error;
    if (step.errorCode !== undefined) {
      yield { errorCode: step.errorCode, errorMessage: step.errorMessage ?? step.errorCode };
      return;
    }
    const deltas = step.deltas ?? (step.text ? [step.text] : []);
    if (options.stream) {
      if (step.thought) yield partial({ type: 'thought', thought: step.thought });
      for (const text of deltas) {
        if (options.signal.aborted) return;
        yield partial({ type: 'text', text });
      }
    }
    const parts: ContentPart[] = [];
    if (step.thought) parts.push({ type: 'thought', thought: step.thought });
    if (deltas.length > 0) parts.push({ type: 'text', text: deltas.join('') });
    for (const part of step.parts ?? []) parts.push(part);
    for (const call of step.calls ?? []) parts.push(isPart(call) ? call : callPart(call[0], call[1]));
    yield {
      content: { role: 'model', parts },
      turnComplete: true,
      finishReason: step.finishReason ?? (step.calls ? 'tool_calls' : 'stop'),
      ...(step.usage ? { usage: step.usage } : {}),
    };
  }

  async #next(request: ModelRequest): Promise<ScriptedStep> {
    const script = this.#byAgent.get(request.agent)?.shift() ?? this.#common.shift();
    if (script === undefined) {
      if (this.#strict) {
        throw new CoxswainError(
          'FAILED_PRECONDITION',
          'E_SCRIPT',
          `the script has no answer left: ${request.agent} asked once more than it was written for`,
        );
      }
      return { text: 'Mock response' };
    }
    const step = typeof script === 'function' ? await script(request) : script;
    return typeof step === 'string' ? { text: step } : step;
  }
}

function partial(part: ContentPart): ModelResponse {
  return { partial: true, content: { role: 'model', parts: [part] } };
}

function isPart(call: readonly [string, unknown?] | FunctionCallPart): call is FunctionCallPart {
  return !Array.isArray(call);
}

function callPart(name: string, args: unknown): FunctionCallPart {
  return { type: 'function_call', id: '', name, args: (args ?? {}) as Record<string, unknown> };
}
