import type { AgentDescriptor, AgentEvent, Limits, PriceTable, Usage } from '../../contracts/index.ts';
import { CoxswainError, costOf, notesOf } from '../../contracts/index.ts';
import { strictestLimits } from '../../session/index.ts';
import { usageOfSubagent } from './subagent-usage.ts';

/** As of an agent's model calls: how often an executor that is not believed may ask anew in one stream. */
const MOST_ROUNDS = 500;
/** Requests that it may list anew in one stream: as many as may be open, twice. */
const MOST_ASKED = 200_000;

/** What a turn may still cost. */
export class Budget {
  readonly limits: Limits;
  readonly #prices: PriceTable | undefined;
  #usd = 0;
  /** Of the agent's own model calls. */
  #ownTokens = 0;
  /** Of its sub-agents'. */
  #tokensBelow = 0;
  #unpriced: string | undefined;
  #rounds = 0;
  #asked = 0;

  /** @throws CoxswainError `FAILED_PRECONDITION / E_NO_PRICE` for a cap in USD without any price */
  constructor(limits: Limits, prices: PriceTable | undefined, modelsTellCost: boolean) {
    this.limits = limits;
    this.#prices = prices;
    if (limits.usd !== undefined && !modelsTellCost && Object.keys(prices ?? {}).length === 0)
      throw noPrice('any model');
  }

  /** Counts an event of the turn, or of a sub-agent below it. */
  see(event: AgentEvent, isBelow = false): void {
    if (event.type !== 'usage') return;
    if (isBelow) this.#tokensBelow += tokensOf(event);
    else this.#ownTokens += tokensOf(event);
    if (this.limits.usd === undefined) return;
    const cost = costOf(event, this.#prices);
    if (cost === undefined) this.#unpriced = event.model ?? 'a model without a name';
    else this.#usd += cost;
  }

  /** An executor that counts no steps of its own, as far as its host knows, has asked for something new. */
  sawRound(asked = 1): void {
    this.#rounds++;
    this.#asked += asked;
  }

  /** Counts what the last turn of a session has cost so far; one that is opened again starts afresh. */
  async seeTurn(events: AsyncIterable<AgentEvent>): Promise<void> {
    // Summed as it comes: what an executor says has happened may have no end.
    let turn = new Budget(this.limits, this.#prices, true);
    for await (const event of events) {
      const isMessage = event.type === 'message' && event.role === 'user' && notesOf(event).steer !== true;
      if (event.type === 'stream_end' || isMessage) turn = new Budget(this.limits, this.#prices, true);
      turn.see(event);
      const below = usageOfSubagent(event);
      if (below) turn.see({ ...event, type: 'usage', ...below.usage } as AgentEvent, true);
    }
    this.#usd += turn.#usd;
    this.#ownTokens += turn.#ownTokens;
    this.#tokensBelow += turn.#tokensBelow;
    this.#unpriced = turn.#unpriced ?? this.#unpriced;
  }

  /** What was used before counts, too. */
  counts(withSubagents: boolean): boolean {
    const { usd, tokens } = this.limits;
    return usd !== undefined || (tokens !== undefined && withSubagents);
  }

  /** Why the turn must not go on. */
  exceeded(): CoxswainError | undefined {
    const { usd, steps = MOST_ROUNDS } = this.limits;
    if (this.#rounds > steps) {
      const message = `the executor has asked for new calls ${this.#rounds} times in one stream, more than the ${steps} steps of a turn; continue the session to resume it`;
      return new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', message);
    }
    if (this.#asked > MOST_ASKED) {
      const message = `the executor has asked for ${this.#asked} calls and questions in one stream, more than ${MOST_ASKED}; continue the session to resume it`;
      return new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', message);
    }
    if (usd === undefined) return undefined;
    if (this.#unpriced !== undefined) return noPrice(this.#unpriced);
    if (this.#usd < usd) return undefined;
    return new CoxswainError(
      'RESOURCE_EXHAUSTED',
      'E_MAX_BUDGET',
      `the turn has used ${this.#usd.toFixed(4)} of its ${usd} USD; continue the session to proceed`,
    );
  }

  /** The turn's limits less the tokens that sub-agents have used: the agent itself counts its own. */
  ofAgent(): Limits {
    return this.#less(this.#tokensBelow);
  }

  /** Less the tokens that all others have used: a sub-agent counts its own. */
  ofSubagent(used: Usage): Limits {
    return this.#less(this.#ownTokens + this.#tokensBelow - tokensOf(used));
  }

  #less(used: number): Limits {
    const { tokens } = this.limits;
    return tokens === undefined ? this.limits : { ...this.limits, tokens: Math.max(1, tokens - used) };
  }
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: Usage): number {
  return inputTokens + outputTokens;
}

function noPrice(model: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_NO_PRICE',
    `limits.usd needs a price for ${model}; put it into the host's prices`,
  );
}

/** The strictest of what host, caller and agent set. @throws CoxswainError `FAILED_PRECONDITION / E_NO_PRICE` */
export function budgetOf(
  { constraints, metadata }: AgentDescriptor,
  host: { limits?: Limits | undefined; prices?: PriceTable | undefined },
  callers: Limits | undefined,
): Budget {
  const limits = strictestLimits(host.limits, callers, {
    ...(constraints?.maxTimeMinutes === undefined ? {} : { minutes: constraints.maxTimeMinutes }),
    ...(constraints?.maxBudgetUsd === undefined ? {} : { usd: constraints.maxBudgetUsd }),
  });
  return new Budget(limits, host.prices, metadata?.reportsCost === true);
}
