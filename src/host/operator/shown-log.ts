import type { AgentEvent } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import type { CallExplanation, EventRedaction } from '../../session/index.ts';
import { eventFacts, withoutTexts } from '../../session/index.ts';
import type { LogReading } from './log-reading.ts';

/** What the session that has called this one hides of what it was asked with. */
export interface Above {
  readonly texts: readonly string[];
  /** Something is hidden of the arguments of the call: the first message has them in other words. */
  readonly hidesPrompt: boolean;
  readonly isUnknown: boolean;
}

/** A log as an operator may see it, as far as it was read. */
export class ShownLog {
  readonly #reading: LogReading;
  readonly #redaction: EventRedaction;
  readonly #above: Above | undefined;
  readonly #inside = new Map<string | undefined, readonly string[]>();
  readonly #isUnknown: boolean;

  constructor(reading: LogReading, above: Above | undefined) {
    this.#reading = reading;
    this.#redaction = reading.redaction;
    this.#above = above;
    this.#isUnknown = reading.isUnknown;
  }

  hasSeen(event: AgentEvent): boolean {
    return this.#redaction.hasSeen(event);
  }

  /** Nothing is hidden in it, of what it was asked with, or of what it has asked others. */
  get hidesNothing(): boolean {
    const above = this.#above;
    const isOpenAbove = !above || !(above.isUnknown || above.hidesPrompt || above.texts.length > 0);
    return isOpenAbove && this.#reading.hidesNothing;
  }

  shown(event: AgentEvent): AgentEvent {
    const { turnId = '', seq = Number.POSITIVE_INFINITY } = event;
    if (this.#above?.isUnknown) return eventFacts(event);
    if (this.#above?.hidesPrompt && event.type === 'message' && event.role === 'user') return eventFacts(event);
    if (this.#isUnknown && this.#reading.isUnknownAt(turnId, seq)) return eventFacts(event);
    const beside = { texts: this.#beside(turnId), all: this.#beside(undefined), isUnknown: this.#isUnknown };
    return this.#redaction.shown(event, beside);
  }

  /** Of a call of this log, or of one of an agent that it has called. */
  explained(requestId: string, said: CallExplanation): CallExplanation {
    const turnId = this.#redaction.turnOf(callIdOf(requestId));
    const { decision, args, rules, unfit, mode } = said;
    const isUnknown =
      this.#above?.isUnknown === true ||
      (this.#isUnknown && this.#reading.isUnknownAt(turnId ?? '', Number.POSITIVE_INFINITY));
    if (isUnknown) {
      const { reason: _, ...rest } = decision;
      const { rules: __, unfit: ___, mode: ____, ...bare } = said;
      return { ...bare, decision: rest, args: {} };
    }
    const own = turnId === undefined ? this.#redaction.allTexts() : this.#redaction.textsOf(turnId);
    const texts = [...own, ...this.#beside(turnId)];
    const hide = <T>(value: T): T => withoutTexts(value, texts);
    return {
      ...said,
      decision: hideReason(decision, hide),
      args: hide(args),
      ...(unfit === undefined ? {} : { unfit: hide(unfit) }),
      ...(mode ? { mode: { ...mode, without: hideReason(mode.without, hide) } } : {}),
      ...(rules
        ? { rules: rules.map((rule) => (rule.because ? { ...rule, because: hide(rule.because) } : rule)) }
        : {}),
    };
  }

  #beside(turnId: string | undefined): readonly string[] {
    let known = this.#inside.get(turnId);
    if (!known) {
      known = [...new Set([...this.#reading.textsInside(turnId), ...(this.#above?.texts ?? [])])];
      this.#inside.set(turnId, known);
    }
    return known;
  }
}

function hideReason<T extends { reason?: string | undefined }>(decision: T, hide: <V>(value: V) => V): T {
  return decision.reason === undefined ? decision : { ...decision, reason: hide(decision.reason) };
}
