import { randomUUID } from 'node:crypto';
import type { AnswerLimits, AnyAgentTool } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import {
  amount,
  answerLimits,
  anything,
  bag,
  checkIs,
  checkOptions,
  checkShape,
  guarded,
  having,
  name,
  names,
  object,
  text,
  unreachable,
} from '../../session/index.ts';
import type { Message, RecordChange, Thought, ToolCall } from '../records/index.ts';
import { checkChange } from '../records/index.ts';
import type { Tool } from '../tools/index.ts';
import { ToolRegistry } from '../tools/index.ts';
import type { FunctionalEvents, ObservabilityEvents } from './buses.ts';
import { DispatchBuses } from './buses.ts';
import type { DispatchExecutorFn } from './dispatch.ts';
import { asError } from './errors.ts';
import { StandaloneTools } from './standalone-tools.ts';
import type { TurnOptions, TurnOutcome } from './turn.ts';
import { runTurn } from './turn.ts';
import type { TurnBackend, TurnBounds } from './turn-context.ts';
import { TurnContext } from './turn-context.ts';
import { checkWatchdog } from './watchdog.ts';

type Maybe<T> = T | Promise<T>;

/** Where conversation lives: loaded once a turn, written through at every change. */
export interface TurnCallbacks {
  fetchMessagesCallback(context: TurnContext): Maybe<Iterable<Message>>;
  storeMessageCallback(context: TurnContext, message: Message): Maybe<void>;
  mutateMessageCallback(context: TurnContext, message: Message): Maybe<void>;
  deleteMessageCallback(context: TurnContext, id: string): Maybe<void>;
  fetchThoughtsCallback(context: TurnContext): Maybe<Iterable<Thought>>;
  storeThoughtCallback(context: TurnContext, thought: Thought): Maybe<void>;
  mutateThoughtCallback(context: TurnContext, thought: Thought): Maybe<void>;
  deleteThoughtCallback(context: TurnContext, id: string): Maybe<void>;
  fetchToolCallsCallback(context: TurnContext): Maybe<Iterable<ToolCall>>;
  storeToolCallCallback(context: TurnContext, call: ToolCall): Maybe<void>;
  mutateToolCallCallback(context: TurnContext, call: ToolCall): Maybe<void>;
  deleteToolCallCallback(context: TurnContext, id: string): Maybe<void>;
}

export interface TurnRunnerConfig extends TurnCallbacks, TurnBounds, Omit<TurnOptions, 'executor'> {
  executorCallback: DispatchExecutorFn;
  /** For every turn. */
  tools?: readonly (Tool | AnyAgentTool)[] | undefined;
  /** For this turn, besides `tools`. */
  fetchToolsCallback?: ((context: TurnContext) => Maybe<Iterable<Tool | AnyAgentTool>>) | undefined;
  /** Handed to tools. */
  deps?: unknown;
}

export interface TurnInput {
  turnId?: string | undefined;
  /** Aborting it aborts the turn. */
  turnAbortController?: AbortController | undefined;
  systemPrompt?: string | undefined;
  standingInstructions?: readonly string[] | undefined;
  stash?: Readonly<Record<string, unknown>> | undefined;
}

const callbacks = ['Message', 'Thought', 'ToolCall'].flatMap((kind) => [
  `fetch${kind}sCallback`,
  `store${kind}Callback`,
  `mutate${kind}Callback`,
  `delete${kind}Callback`,
]);
const mayBeGiven: Shape<TurnRunnerConfig> = {
  ...(Object.fromEntries(['executorCallback', ...callbacks].map((each) => [each, anything])) as Shape<TurnCallbacks> & {
    executorCallback: Check;
  }),
  tools: anything,
  fetchToolsCallback: anything,
  deps: anything,
  answerLimits: object,
  maxResultBytes: amount,
  watchdog: object,
  dispatchInputPipeline: anything,
  dispatchOutputPipeline: anything,
  turnInputPipeline: anything,
  turnOutputPipeline: anything,
};
const input: Shape<TurnInput> = {
  turnId: name,
  turnAbortController: having('abort'),
  systemPrompt: text,
  standingInstructions: names,
  stash: bag,
};

const pipelines = ['turnInputPipeline', 'turnOutputPipeline', 'dispatchInputPipeline', 'dispatchOutputPipeline'];

/** Runs turns of an executor without a session: what it stores goes to callbacks, what it reports to listeners. */
export class TurnRunner {
  readonly #config: TurnRunnerConfig;
  readonly #buses = new DispatchBuses();

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_TURN_RUNNER_CONFIG` naming every field that is wrong */
  constructor(config: TurnRunnerConfig) {
    assertConfig(config);
    this.#config = { ...config };
  }

  on<K extends keyof FunctionalEvents>(name: K, listener: (event: FunctionalEvents[K]) => unknown): this {
    this.#buses.on(name, listener);
    return this;
  }

  once<K extends keyof FunctionalEvents>(name: K, listener: (event: FunctionalEvents[K]) => unknown): this {
    this.#buses.once(name, listener);
    return this;
  }

  off<K extends keyof FunctionalEvents>(name: K, listener: (event: FunctionalEvents[K]) => unknown): this {
    this.#buses.off(name, listener);
    return this;
  }

  observe<K extends keyof ObservabilityEvents>(name: K, listener: (event: ObservabilityEvents[K]) => unknown): this {
    this.#buses.observe(name, listener);
    return this;
  }

  observeOnce<K extends keyof ObservabilityEvents>(
    name: K,
    listener: (event: ObservabilityEvents[K]) => unknown,
  ): this {
    this.#buses.observeOnce(name, listener);
    return this;
  }

  unobserve<K extends keyof ObservabilityEvents>(name: K, listener: (event: ObservabilityEvents[K]) => unknown): this {
    this.#buses.unobserve(name, listener);
    return this;
  }

  /** Runs one turn to its end. Never rejects: how it ended is in the outcome and on the buses. */
  async run(given: TurnInput = {}): Promise<TurnOutcome> {
    const config = this.#config;
    try {
      checkOptions<TurnInput>(given, 'TurnRunner.run: input', input);
    } catch (error) {
      return { turnId: '', status: 'nack', error: asError(error), iterations: 0 };
    }
    const turn = new TurnContext({
      turnId: given.turnId ?? randomUUID(),
      turnAbortController: given.turnAbortController ?? new AbortController(),
      backend: backendOf(config),
      buses: this.#buses,
      bounds: { answerLimits: config.answerLimits, maxResultBytes: config.maxResultBytes },
      tools: new ToolRegistry(config.tools),
      systemPrompt: given.systemPrompt,
      standingInstructions: given.standingInstructions,
      stash: given.stash,
    });
    const options = { ...config, executor: config.executorCallback };
    return runTurn(turn, options, () => load(turn, config));
  }
}

async function load(turn: TurnContext, config: TurnRunnerConfig): Promise<void> {
  for (const value of await config.fetchMessagesCallback(turn)) take(turn, { op: 'store', kind: 'message', value });
  for (const value of await config.fetchThoughtsCallback(turn)) take(turn, { op: 'store', kind: 'thought', value });
  for (const value of await config.fetchToolCallsCallback(turn)) take(turn, { op: 'store', kind: 'toolCall', value });
  for (const tool of (await config.fetchToolsCallback?.(turn)) ?? []) turn.tools.register(tool);
}

function take(turn: TurnContext, change: RecordChange): void {
  checkChange(change);
  turn.records.apply(change);
}

function backendOf(config: TurnRunnerConfig): TurnBackend {
  const tools = new StandaloneTools(config.deps);
  return {
    run: (tool, args, options, turn) => tools.run(tool, args, options, turn),
    async write(change, context) {
      switch (change.kind) {
        case 'message':
          if (change.op === 'store') return config.storeMessageCallback(context, change.value);
          if (change.op === 'mutate') return config.mutateMessageCallback(context, change.value);
          return config.deleteMessageCallback(context, change.id);
        case 'thought':
          if (change.op === 'store') return config.storeThoughtCallback(context, change.value);
          if (change.op === 'mutate') return config.mutateThoughtCallback(context, change.value);
          return config.deleteThoughtCallback(context, change.id);
        case 'toolCall':
          if (change.op === 'store') return config.storeToolCallCallback(context, change.value);
          if (change.op === 'mutate') return config.mutateToolCallCallback(context, change.value);
          return config.deleteToolCallCallback(context, change.id);
        default:
          return unreachable(change, 'a change');
      }
    },
  };
}

function assertConfig(config: TurnRunnerConfig): void {
  const isGiven = guarded('TurnRunner: config', () => object.fits(config));
  const given = (isGiven ? config : {}) as unknown as Record<string, unknown>;
  checkIs(given, 'TurnRunner: config', bag);
  // Whoever keeps the conversation may be given as it is, with more than its callbacks.
  if (isGiven) checkShape<TurnRunnerConfig>(given, 'TurnRunner: config', mayBeGiven);
  const wrong = ['executorCallback', ...callbacks].filter((name) => typeof given[name] !== 'function');
  for (const name of pipelines) {
    const steps = given[name] ?? [];
    if (!Array.isArray(steps) || !steps.every((step) => typeof step === 'function')) wrong.push(name);
  }
  if (given.fetchToolsCallback !== undefined && typeof given.fetchToolsCallback !== 'function') {
    wrong.push('fetchToolsCallback');
  }
  if (wrong.length > 0) {
    const message = `TurnRunner: missing or wrong: ${wrong.join(', ')}`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_INVALID_TURN_RUNNER_CONFIG', message, {
      details: { fields: wrong },
    });
  }
  const { answerLimits: limits } = config;
  if (limits !== undefined) checkOptions<AnswerLimits>(limits, 'TurnRunner: config.answerLimits', answerLimits);
  checkWatchdog(config.watchdog, 'TurnRunner: config.watchdog');
  new ToolRegistry(config.tools);
}
