import type { ContentPart } from '../../contracts/index.ts';
import { CoxswainError, textOfParts } from '../../contracts/index.ts';
import type { DispatchContext, DispatchExecutorHelpers } from '../../dispatch/index.ts';
import { Message, storeEvent, Thought } from '../../dispatch/index.ts';
import { finishReasonOf, newId } from '../../runtime/index.ts';
import { googleUsage, partsOf } from './content.ts';
import type { AdkAgent, AdkEvent } from './types.ts';

/** Puts the package's events into the session's log, in their order. */
export class AdkEvents {
  readonly #ctx: DispatchContext;
  readonly #helpers: DispatchExecutorHelpers;
  readonly #root: string;
  readonly #agents: ReadonlySet<string>;
  /** Of the message that the root agent is saying: pieces and the whole have different ids there. */
  #speaking: string | undefined;
  /** What the last event said was wrong. */
  failure: CoxswainError | undefined;

  constructor(ctx: DispatchContext, helpers: DispatchExecutorHelpers, root: AdkAgent) {
    this.#ctx = ctx;
    this.#helpers = helpers;
    this.#root = root.name;
    this.#agents = namesBelow(root);
  }

  async take(event: AdkEvent): Promise<void> {
    const parts = partsOf(event.content);
    const author = this.#authorOf(event);
    const isRoot = author === this.#root && event.branch === undefined;
    if (event.partial) {
      if (isRoot) this.#pieces(parts);
      return;
    }
    if (author === 'user') return;
    this.failure = failureOf(event) ?? (parts.length > 0 ? undefined : this.failure);
    if (isRoot) await this.#say(parts);
    await this.#rest({ ...event, author }, isRoot ? [] : parts);
  }

  /** A plugin that answers instead of the agent speaks as `model`: what no agent of the tree has said, the root has. */
  #authorOf({ author = this.#root }: AdkEvent): string {
    return author === 'user' || this.#agents.has(author) ? author : this.#root;
  }

  #pieces(parts: readonly ContentPart[]): void {
    for (const part of parts) {
      this.#speaking ??= newId();
      if (part.type === 'text') this.#helpers.reportMessage(this.#speaking, String(part.text));
      if (part.type === 'thought') this.#helpers.reportThought(this.#speaking, String(part.thought));
    }
  }

  async #say(parts: readonly ContentPart[]): Promise<void> {
    if (parts.length === 0) return;
    const at = Date.now();
    const base = { id: this.#speaking ?? newId(), createdAt: at, updatedAt: at };
    this.#speaking = undefined;
    const thoughts = parts.flatMap((part) => (part.type === 'thought' ? [String(part.thought)] : []));
    if (thoughts.length > 0) await this.#ctx.storeThought(new Thought({ ...base, content: thoughts.join('') }));
    const text = textOfParts([...parts]);
    if (text !== '') await this.#ctx.storeMessage(new Message({ ...base, role: 'assistant', content: text }));
    const others = parts.filter(({ type }) => type !== 'text' && type !== 'thought');
    if (others.length > 0) await storeEvent(this.#ctx, { content: { role: 'model', parts: others } });
  }

  /** Another agent's words, and what an event does beside saying something. */
  async #rest(event: AdkEvent & { author: string }, parts: ContentPart[]): Promise<void> {
    const { author, branch, actions, customMetadata, finishReason } = event;
    const usage = googleUsage(event);
    const stateDelta = storableDelta(actions.stateDelta);
    const { artifactDelta, transferToAgent, escalate, skipSummarization } = actions;
    const told = {
      ...customMetadata,
      ...(transferToAgent === undefined ? {} : { agent_transfer: { from: author, to: transferToAgent } }),
      ...(escalate ? { escalate: true } : {}),
    };
    const does = {
      ...(Object.keys(stateDelta).length === 0 ? {} : { stateDelta }),
      ...(Object.keys(artifactDelta).length === 0 ? {} : { artifactDelta }),
    };
    const isCut = finishReason !== undefined && finishReasonOf(finishReason) === 'length';
    if (parts.length === 0 && !usage && !isCut && Object.keys(told).length === 0 && Object.keys(does).length === 0)
      return;
    await storeEvent(this.#ctx, {
      author,
      ...(branch === undefined ? {} : { branch }),
      ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
      ...(usage ? { usage } : {}),
      ...(isCut ? { finishReason } : {}),
      ...(Object.keys(told).length === 0 ? {} : { customMetadata: told }),
      actions: { ...does, ...(skipSummarization ? { skipSummarization } : {}) },
    });
  }
}

function namesBelow(agent: AdkAgent, names = new Set<string>()): Set<string> {
  names.add(agent.name);
  for (const child of agent.subAgents) namesBelow(child, names);
  return names;
}

const REFUSALS = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'RECITATION', 'SPII']);

/** An event that says what went wrong. `STOP` stands there for an answer without content, which is no error. */
function failureOf({ errorCode, errorMessage = 'the agent has failed' }: AdkEvent): CoxswainError | undefined {
  if (errorCode === undefined || errorCode === 'STOP') return undefined;
  if (REFUSALS.has(errorCode)) {
    return new CoxswainError('FAILED_PRECONDITION', 'E_REFUSED', `the model refuses: ${errorCode}`);
  }
  if (/number of llm calls limit/i.test(errorMessage)) {
    return new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', errorMessage);
  }
  return new CoxswainError('INTERNAL', 'E_MODEL', `${errorCode}: ${errorMessage}`);
}

/** What may be stored of a delta: no temporary keys, and of instances what JSON has of them. */
export function storableDelta(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(delta).filter(([key, value]) => !key.startsWith('temp:') && value !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(kept))) as Record<string, unknown>;
}
