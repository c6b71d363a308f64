import type { Compaction, Content, ToolDescriptor } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { AgentContext, ToolMap } from '../agent/index.ts';
import { modelOf } from '../agent/index.ts';
import type { Bounds, Clearing, History } from '../history/index.ts';
import {
  clearedResult,
  planClearing,
  planSummary,
  summaryContent,
  tokensOfContent,
  tokensOfText,
  tooMuch,
  WORTH_SUMMARISING,
} from '../history/index.ts';
import type { HookChain } from '../hooks/index.ts';
import type { Compacted } from '../log/index.ts';
import type { ModelUser } from './model-user.ts';
import { Summariser } from './summarise.ts';
import { viewerOf } from './viewer-of.ts';

/** Share of a model's window above which a history is compacted. */
export const DEFAULT_AT = 0.8;
/** Newest messages, or answers with their results, that stay as they are. */
export const DEFAULT_KEEP = 8;
/** Ranges that are summed up at once, at most: one before the newest message of a user, one behind it, one more. */
const MOST_RANGES = 3;

/** Why a history is compacted: it has grown, its request was refused as too long, or somebody wants it. */
type Cause = 'due' | 'overflow' | 'asked';

/** Where the newest attempt at a summary has failed: it is not made again until a tenth more has come. */
const failedAt = new WeakMap<AgentContext, number>();

/** Compacts what the agent's model is about to be sent, where that has grown too long. Undefined: it has not. */
export function compactWhereDue(
  context: AgentContext,
  agent: ModelUser,
  hooks: HookChain,
  tools: ToolMap,
): Promise<unknown> | undefined {
  const limit = limitOf(context, agent);
  if (limit === undefined) return undefined;
  const history = context.invocation.session.history(viewerOf(context, agent));
  const isDue = (read: History) => read.tokensWithin(limit.window) > limit.tokens;
  const go = () => new Compacting(context, agent, hooks, tools, limit).run('due');
  if (history instanceof Promise) return history.then((read) => (isDue(read) ? go() : undefined));
  return isDue(history) ? go() : undefined;
}

/**
 * Compacts as much as can be, whatever the window: a provider has refused the request as too long, or somebody asks for it.
 */
export async function compactNow(
  context: AgentContext,
  agent: ModelUser,
  hooks: HookChain,
  tools: ToolMap,
  cause: 'overflow' | 'asked',
): Promise<Compaction> {
  const history = await context.invocation.session.history(viewerOf(context, agent));
  const known = limitOf(context, agent);
  // What was refused did not fit: the window is smaller than that, whatever is said of it.
  const most = cause === 'overflow' ? history.tokens / 2 : history.tokens;
  const tokens = Math.max(1, Math.min(most, known?.tokens ?? most));
  return new Compacting(context, agent, hooks, tools, { window: tokens, tokens }).run(cause);
}

interface Limit {
  window: number;
  /** Above which something is done. */
  tokens: number;
}

/** Undefined: it is off, or nobody knows the model's window. */
function limitOf(context: AgentContext, agent: ModelUser): Limit | undefined {
  const { compaction } = agent;
  if (compaction === false) return undefined;
  const window = compaction?.window ?? windowOf(context, agent);
  return window === undefined ? undefined : { window, tokens: window * (compaction?.at ?? DEFAULT_AT) };
}

function windowOf(context: AgentContext, agent: ModelUser): number | undefined {
  try {
    const { model, name } = modelOf(context, agent);
    return model.contextWindow?.(name);
  } catch (error) {
    // The step itself says that there is none.
    if (isCoxswainError(error) && error.code === 'E_NO_MODEL') return undefined;
    throw error;
  }
}

/** One go at one history. Each step of it is an event that stands by itself. */
class Compacting {
  readonly #context: AgentContext;
  readonly #agent: ModelUser;
  readonly #hooks: HookChain;
  readonly #limit: Limit;
  /** Of system instruction and tools, about. */
  readonly #beside: number;
  #events = 0;
  /** Why the last attempt at a summary came to nothing. */
  #why: string | undefined;

  constructor(context: AgentContext, agent: ModelUser, hooks: HookChain, tools: ToolMap, limit: Limit) {
    this.#context = context;
    this.#agent = agent;
    this.#hooks = hooks;
    this.#limit = limit;
    this.#beside = tokensBeside(agent, tools);
  }

  async run(cause: Cause): Promise<Compaction> {
    const tokensBefore = this.#tokens(await this.#history());
    // Whoever asks for it by hand wants a summary; references are for what cannot wait.
    if (cause !== 'asked') {
      const clearing = planClearing(await this.#history(), this.#bounds(cause));
      if (clearing) await this.#clear(clearing);
    }
    for (let made = 0; made < MOST_RANGES; made++) {
      const history = await this.#history();
      if (cause !== 'asked' && this.#tokens(history) <= tooMuch({ limit: this.#limit.tokens })) break;
      if (!(await this.#summarise(history, cause))) break;
    }
    const tokensAfter = this.#tokens(await this.#history());
    if (this.#events > 0) return { compacted: true, tokensBefore, tokensAfter };
    return { compacted: false, tokensBefore, tokensAfter, reason: this.#why ?? 'there is nothing worth leaving out' };
  }

  #bounds(cause: Cause): Bounds {
    const { fold } = this.#context.invocation;
    const keep = this.#agent.compaction ? (this.#agent.compaction.keep ?? DEFAULT_KEEP) : DEFAULT_KEEP;
    return {
      limit: this.#limit.tokens,
      keep: cause === 'overflow' ? Math.min(keep, 2) : keep,
      open: fold.open,
      turnId: fold.turn?.id ?? '',
      // A history that stays too long whatever is done is not worth a model call in each step.
      worth: cause === 'due' ? Math.max(WORTH_SUMMARISING, this.#limit.tokens / 10) : WORTH_SUMMARISING,
    };
  }

  async #history(): Promise<History> {
    return this.#context.invocation.session.history(viewerOf(this.#context, this.#agent));
  }

  #tokens(history: History): number {
    return Math.round(history.tokensWithin(this.#limit.window));
  }

  async #clear(clearing: Clearing): Promise<void> {
    const history = await this.#history();
    let removed = 0;
    for (const { parts } of history.contents) {
      for (const part of parts) {
        if (part.type !== 'function_response') continue;
        const left = clearing.cleared[part.id];
        if (left === undefined) continue;
        const alone = (one: typeof part): Content => ({ role: 'user', parts: [one] });
        removed += tokensOfContent(alone(part)) - tokensOfContent(alone(clearedResult(part, left)));
      }
    }
    await this.#store(history, removed, { ...clearing, by: 'clear' });
  }

  /** False: there is no range worth while, or no summary of it. */
  async #summarise(history: History, cause: Cause): Promise<boolean> {
    const tokens = this.#tokens(history);
    if (cause === 'due' && tokens < (failedAt.get(this.#context) ?? 0) * 1.1) return false;
    const range = planSummary(history, this.#bounds(cause));
    if (!range) return false;
    const removed = history.estimate(range.start, range.end);
    const summariser = new Summariser(this.#context, this.#agent, this.#hooks, cause !== 'asked');
    const made = await summariser.sum(history.contents.slice(range.start, range.end), this.#limit.tokens);
    const added = made ? tokensOfContent(summaryContent(made.summary)) : 0;
    if (!made || added >= removed) {
      failedAt.set(this.#context, tokens);
      const why = made ? `the summary is as long as what it stands for` : (summariser.why ?? 'there is no summary');
      this.#why = why;
      // Whoever asks for it is told.
      if (cause !== 'asked') {
        this.#context.invocation.engine.warn(`the history of agent ${this.#agent.name} was not summed up: ${why}`);
      }
      return false;
    }
    const { from, through } = range;
    const { summary, by, model, ...beside } = made;
    const told: Omit<Compacted, 'tokensBefore' | 'tokensAfter'> = { from, through, summary, by };
    await this.#store(history, removed - added, model === undefined ? told : { ...told, model }, beside);
    return true;
  }

  async #store(
    history: History,
    removed: number,
    what: Omit<Compacted, 'tokensBefore' | 'tokensAfter'>,
    { usage, stateDelta }: Partial<Pick<Awaited<ReturnType<Summariser['sum']>> & object, 'usage' | 'stateDelta'>> = {},
  ): Promise<void> {
    const tokensBefore = this.#tokens(history);
    const estimated = history.estimate() + this.#beside;
    const left = Math.max(0, estimated - removed) / Math.max(1, estimated);
    const compacted: Compacted = { ...what, tokensBefore, tokensAfter: Math.round(tokensBefore * Math.min(1, left)) };
    this.#events++;
    await this.#context.emit({
      ...(usage ? { usage } : {}),
      ...(usage && what.model !== undefined ? { model: what.model } : {}),
      actions: { compacted, ...(stateDelta ? { stateDelta } : {}) },
    });
  }
}

function tokensBeside(agent: ModelUser, tools: ToolMap): number {
  let tokens = typeof agent.instruction === 'string' ? tokensOfText(agent.instruction) : 0;
  for (const { descriptor } of tools.values()) tokens += tokensOfTool(descriptor);
  return tokens;
}

function tokensOfTool({ name, description, inputSchema }: ToolDescriptor): number {
  return tokensOfText(JSON.stringify({ name, description, inputSchema }));
}

/** The end of a turn whose request fits no window, whatever was left out of it. */
export function tooLong(agent: ModelUser, error: unknown): CoxswainError {
  const said = isCoxswainError(error) ? error.message : ((error as { errorMessage?: string })?.errorMessage ?? '');
  const why =
    agent.compaction === false
      ? 'its compaction is off'
      : 'nothing more can be left out of it; give the agent fewer tools, a shorter instruction or a shorter message';
  const message = `the request of agent ${agent.name} does not fit the context window of its model, and ${why}: ${said}`;
  return new CoxswainError('RESOURCE_EXHAUSTED', 'E_CONTEXT', message, { details: { agent: agent.name } });
}
