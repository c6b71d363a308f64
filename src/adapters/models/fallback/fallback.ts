import type { Usage } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import type { Model, ModelCallOptions, ModelRequest, ModelResponse } from '../../../runtime/index.ts';
import { tokensOfContent, tokensOfText } from '../../../runtime/index.ts';
import type { Check, Shape } from '../../../session/index.ts';
import { addUsage, amount, badInput, checkIs, checkOptions, fn, having, list, name } from '../../../session/index.ts';
import type { First } from './attempt.ts';
import { Attempt } from './attempt.ts';
import { isWell, rest, restsUntil } from './health.ts';
import type { FallbackReason } from './reasons.ts';
import { FALLBACK_REASONS, fallbackReasonOf } from './reasons.ts';

export interface FallbackOptions {
  /**
   * Why the next model is asked: `overload`, `rate_limit`, `timeout`, `connect` (nobody answers, or the stream breaks off
   * before anything was shown), `error` (another failure that may pass), `refusal`. Default all but `refusal`.
   */
  on?: readonly FallbackReason[];
  /** Milliseconds for which a model that has failed is asked last. `Retry-After` goes before it. Default 30,000. */
  coolDownMs?: number;
  /**
   * Milliseconds after which a model that has said nothing yet gets a rival; who speaks first answers, and the other is given up. What that
   * one's provider has reported by then is in the usage of the answer; where that is nothing, `tried` has an estimate. Default none.
   */
  hedgeAfterMs?: number;
  /** The name of the model to begin with, for one call; undefined: as the list says. */
  choose?: (request: ModelRequest, facts: { models: readonly string[]; budgetUsed: number }) => string | undefined;
  /** Name of the whole. Default the names of its models with commas between. */
  name?: string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
}

/** A model of the list: alone, or with the share of the turn's limits from which on it is asked after the others. */
type Listed = Model | { readonly model: Model; readonly untilBudget: number };

interface Member {
  model: Model;
  untilBudget: number;
}

type Tried = NonNullable<ModelResponse['tried']>[number];

const reasons: Check = {
  needs: `a list of ${FALLBACK_REASONS.map((reason) => `'${reason}'`).join(', ')}`,
  fits: (value) => list.fits(value) && (value as unknown[]).every((each) => FALLBACK_REASONS.includes(each as never)),
};
const shape: Shape<FallbackOptions> = {
  on: reasons,
  coolDownMs: amount,
  hedgeAfterMs: amount,
  choose: fn,
  name,
  now: fn,
};
const model: Check = { needs: 'a model, or {model, untilBudget}', fits: having('generate').fits };

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkFallback(options: FallbackOptions, where: string): void {
  checkOptions<FallbackOptions>(options, where, shape);
}

/**
 * Several models as one. The first that is well is asked; where it fails before anything of its answer was shown, the next. An answer
 * says which model it is of, and `tried` which were asked before it and why they did not answer; its usage has theirs.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`; a call `NOT_FOUND / E_NO_MODEL` under a name that none of them has
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { anthropicModel, fallbackModel, openaiResponsesModel } from 'coxswain/models';
 *
 * const claude = anthropicModel('claude-sonnet-5', { apiKey: process.env.ANTHROPIC_API_KEY ?? '' });
 * const gpt = openaiResponsesModel('gpt-5', { apiKey: process.env.OPENAI_API_KEY ?? '' });
 * new LlmAgent({ name: 'clerk', model: fallbackModel([claude, gpt]) });
 * ```
 */
export function fallbackModel(models: readonly Listed[], options: FallbackOptions = {}): Model {
  checkIs(models, 'fallbackModel: models', list);
  checkFallback(options, 'fallbackModel: options');
  const members = models.map(memberOf);
  const [first] = members;
  if (!first) throw badInput('fallbackModel: models is an empty list; give at least one model');
  const whole = options.name ?? members.map((member) => member.model.name).join(',');
  return {
    name: whole,
    ...(first.model.system === undefined ? {} : { system: first.model.system }),
    contextWindow: (asked) => windowIn(members, asked),
    generate: (request, call) => answer(orderOf(members, request, call, whole, options), request, call, options),
  };
}

/** Tokens that a request may have: of the model that is named; else as many as the smallest takes, since any may be asked. */
function windowIn(members: readonly Member[], asked: string): number | undefined {
  const named = members.filter(({ model }) => model.name === asked);
  const windows = (named.length > 0 ? named : members).map(({ model }) => model.contextWindow?.(model.name));
  const known = windows.filter((window) => window !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function memberOf(listed: Listed, at: number): Member {
  if (typeof listed === 'object' && listed !== null && 'model' in listed && !('generate' in listed)) {
    const where = `fallbackModel: models[${at}]`;
    checkOptions<Member>(listed, where, { model, untilBudget: amount });
    return { model: listed.model, untilBudget: listed.untilBudget };
  }
  checkIs(listed, `fallbackModel: models[${at}]`, model);
  return { model: listed as Model, untilBudget: Number.POSITIVE_INFINITY };
}

/** Who is asked in which order: the one that is named; those that are well, the ones over their budget last; those that rest. */
function orderOf(
  members: readonly Member[],
  request: ModelRequest,
  { budgetUsed = 0 }: ModelCallOptions,
  whole: string,
  { choose, now = Date.now }: FallbackOptions,
): Model[] {
  const names = members.map((member) => member.model.name);
  const asked = request.model === '' || request.model === whole ? undefined : request.model;
  const chosen = asked ?? choose?.(request, { models: names, budgetUsed });
  if (chosen !== undefined && !names.includes(chosen)) {
    const message = `none of the models ${names.join(', ')} is called ${chosen}`;
    throw new CoxswainError('NOT_FOUND', 'E_NO_MODEL', message);
  }
  const at = now();
  const placed = members.map((member) => {
    const until = restsUntil(member.model, at);
    const tier = member.model.name === chosen ? 0 : until !== undefined ? 3 : budgetUsed >= member.untilBudget ? 2 : 1;
    return { model: member.model, tier, until: until ?? 0 };
  });
  return placed.sort((a, b) => a.tier - b.tier || a.until - b.until).map((place) => place.model);
}

async function* answer(
  order: Model[],
  request: ModelRequest,
  call: ModelCallOptions,
  options: FallbackOptions,
): AsyncGenerator<ModelResponse> {
  const {
    on = FALLBACK_REASONS.filter((reason) => reason !== 'refusal'),
    coolDownMs = 30_000,
    now = Date.now,
  } = options;
  const running = new Set<Attempt>();
  const tried: Tried[] = [];
  let spent: Usage = {};
  const start = () => {
    const next = order.shift();
    // Who has no other to ask asks again itself.
    if (next) running.add(new Attempt(next, request, order.length > 0 ? { ...call, retry: false } : call));
  };
  const noteRest = (model: Model, frame: ModelResponse) => {
    const reason = fallbackReasonOf(frame);
    if (reason !== undefined && reason !== 'refusal') rest(model, now(), frame.retryAfterMs, coolDownMs);
  };
  /** Of an attempt that failed: what it has cost, and that it rests. */
  const failed = (model: Model, frame: ModelResponse) => {
    noteRest(model, frame);
    lost(model, frame.errorCode ?? frame.finishReason ?? 'empty', frame.usage);
  };
  const lost = ({ name }: Model, errorCode: string, usage: Usage | undefined) => {
    spent = addUsage(spent, usage ?? {});
    const unreported = usage === undefined && mayBeCharged(errorCode) ? { inputTokens: tokensOf(request) } : undefined;
    tried.push({ model: name, errorCode, ...(unreported ? { unreported } : {}) });
  };
  if (call.meter) {
    call.meter.read = () => {
      const usages = [spent, ...[...running].map((attempt) => attempt.usage ?? {})];
      const sum = usages.reduce(addUsage);
      return Object.keys(sum).length > 0 ? sum : undefined;
    };
  }
  try {
    start();
    for (;;) {
      call.signal.throwIfAborted();
      const first = await firstOf(running, order.length > 0 ? options.hedgeAfterMs : undefined);
      if (!first) {
        start();
        continue;
      }
      const { from } = first;
      if ('thrown' in first) throw first.thrown;
      let { frame } = first;
      if (!frame.partial && isLost(frame, on)) {
        running.delete(from);
        const helps = frame.errorCode === undefined || on.includes(fallbackReasonOf(frame) ?? ('' as never));
        if (running.size > 0 || (helps && order.length > 0)) {
          failed(from.model, frame);
          from.leave();
          if (running.size === 0) start();
          continue;
        }
      }
      for (const rival of running) {
        if (rival === from) continue;
        running.delete(rival);
        lost(rival.model, ABANDONED, rival.usage);
        rival.leave();
      }
      while (frame.partial) {
        yield frame;
        frame = await from.next();
      }
      // Before it is given: whoever has the last frame reads no further.
      if (frame.errorCode === undefined) isWell(from.model);
      else noteRest(from.model, frame);
      yield whole(from.model, frame, tried, spent);
      return;
    }
  } finally {
    for (const attempt of running) attempt.leave();
  }
}

const ABANDONED = 'abandoned';

/** Its provider had the request and worked on it: what it reports comes with an end that has not come. */
function mayBeCharged(errorCode: string): boolean {
  return errorCode === ABANDONED || errorCode === 'timeout' || errorCode === 'stream_ended';
}

/** About. */
function tokensOf({ systemInstruction, tools, contents }: ModelRequest): number {
  let tokens = tokensOfText(systemInstruction);
  for (const { name, description, inputSchema } of tools.values())
    tokens += tokensOfText(JSON.stringify({ name, description, inputSchema }));
  for (const content of contents) tokens += tokensOfContent(content);
  return tokens;
}

/** Whether another model is to answer instead. */
function isLost(frame: ModelResponse, on: readonly FallbackReason[]): boolean {
  return frame.errorCode !== undefined || (fallbackReasonOf(frame) === 'refusal' && on.includes('refusal'));
}

/** The first that says something; undefined where nobody has in that time. */
async function firstOf(running: ReadonlySet<Attempt>, withinMs: number | undefined): Promise<First | undefined> {
  const firsts = [...running].map((attempt) => attempt.first);
  if (withinMs === undefined) return Promise.race(firsts);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.min(withinMs, 2 ** 31 - 1));
  try {
    return await Promise.race([...firsts, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The last frame, with what was asked before it. */
function whole(model: Model, frame: ModelResponse, tried: readonly Tried[], spent: Usage): ModelResponse {
  const usage = Object.keys(spent).length > 0 ? addUsage(spent, frame.usage ?? {}) : frame.usage;
  const before = tried.map((each) => `${each.model}: ${each.errorCode}`).join(', ');
  return {
    ...frame,
    model: frame.model ?? model.name,
    ...(usage ? { usage } : {}),
    ...(tried.length > 0 ? { tried } : {}),
    ...(frame.errorMessage !== undefined && tried.length > 0
      ? { errorMessage: `${frame.errorMessage} (asked before: ${before})` }
      : {}),
  };
}
