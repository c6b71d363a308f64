import type { Content, SessionInput } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { AgentContext, Model, RequestProcessor, StoredEvent, TurnLimits } from '../../runtime/index.ts';
import { defaultProcessors, hooksPlugin, LlmAgent, newId, Runner } from '../../runtime/index.ts';
import { answersTo } from './approve.ts';
import { isToolCache } from './cache.ts';
import type { ExecuteOptions, GenerateOptions } from './options.ts';
import { DEFAULT_AUTO_TOOL_TIMEOUT_MS } from './options.ts';
import { hooksGiven } from './options-shape.ts';
import { runnable } from './runnable.ts';

const AGENT = 'assistant';

export interface AutoLoopOptions
  extends ExecuteOptions,
    Pick<GenerateOptions, 'systemInstruction' | 'config' | 'tools' | 'outputSchema'> {
  model: Model;
  limits: TurnLimits;
  streaming: boolean;
}

export interface LoopWatch {
  /** A model call is about to be made. */
  step?(): void;
  event?(event: StoredEvent): void;
}

/** How a run ended. */
export interface LoopEnd {
  /** `completed`, `refusal`, `max_turns`, `failed`, `aborted`, … */
  reason: string;
  /** The failure's event, where there is one. */
  failure: StoredEvent | undefined;
  /** What the model was shown last, and what came of it; undefined if it was never asked. */
  contents: readonly Content[] | undefined;
}

/** Runs one turn on the runtime's own loop and scheduler, with a log that lives as long as the turn. */
export async function runLoop(
  history: { before: readonly Content[]; input: SessionInput; placeholder: boolean },
  options: AutoLoopOptions,
  watch: LoopWatch,
): Promise<LoopEnd> {
  const signal = options.signal ?? new AbortController().signal;
  let context: AgentContext | undefined;
  const seen = async (at: AgentContext): Promise<readonly Content[]> => {
    const own = await at.invocation.session.contents({ agent: AGENT, branch: at.branch, iso: at.iso });
    return [...history.before, ...(history.placeholder ? own.slice(1) : own)];
  };
  const contents: RequestProcessor = {
    name: 'Contents',
    async process(facts, draft) {
      context = facts.context;
      draft.contents = await seen(context);
      watch.step?.();
    },
  };
  const agent = agentOf(options, contents);
  const runner = new Runner({ app: 'auto-tools', agent, ...runnerOptions(options) });
  const key = { userId: 'local', sessionId: newId() };
  let input: SessionInput | SessionInput[] = history.input;
  let end: { reason: string } | undefined;
  let failure: StoredEvent | undefined;
  while (!end) {
    const events = runner.run({ ...key, input, signal, streaming: options.streaming, deps: options.deps });
    for await (const event of events) {
      if (event.errorCode !== undefined && !event.partial) failure = event;
      end = event.actions.end ?? end;
      watch.event?.(event);
    }
    const session = context?.invocation.session;
    if (!end) {
      const answers = session ? await answersTo(session.fold, options, signal) : [];
      if (answers.length === 0) throw new CoxswainError('INTERNAL', 'E_INTERNAL', 'the run stopped with nothing open');
      input = answers;
    }
  }
  return {
    reason: end.reason,
    failure,
    contents: context && (await seen(context)),
  };
}

function agentOf(options: AutoLoopOptions, contents: RequestProcessor): LlmAgent {
  const { model, systemInstruction, config, outputSchema } = options;
  const caches = hooksGiven(options).filter(isToolCache);
  const tools = [...(options.tools ?? [])].map((tool) =>
    caches.reduce((inner, cache) => cache.share(inner), runnable(tool)),
  );
  return new LlmAgent({
    name: AGENT,
    model,
    tools,
    // A function's text is taken as it is: no placeholder in it is filled.
    ...(systemInstruction === undefined ? {} : { instruction: () => systemInstruction }),
    ...(config ? { generateContentConfig: { ...config } } : {}),
    ...(outputSchema ? { outputSchema } : {}),
    processors: defaultProcessors.map((processor) => (processor.name === 'Contents' ? contents : processor)),
  });
}

function runnerOptions(options: AutoLoopOptions) {
  const { policy, principal, telemetry, toolConcurrency, warn, plugins = [] } = options;
  const all = [...hooksGiven(options).map((one, index) => hooksPlugin(one, `hooks-${index}`)), ...plugins];
  return {
    limits: options.limits,
    toolTimeoutMs: options.toolTimeoutMs ?? DEFAULT_AUTO_TOOL_TIMEOUT_MS,
    ...(options.answerLimits ? { answerLimits: options.answerLimits } : {}),
    ...(policy ? { policy } : {}),
    ...(principal ? { principal } : {}),
    ...(telemetry ? { telemetry } : {}),
    ...(toolConcurrency === undefined ? {} : { toolConcurrency }),
    ...(all.length > 0 ? { plugins: all } : {}),
    ...(warn ? { warn } : {}),
  };
}
