import type { DecisionRecord, PermissionMode, PutQuestion, TurnTerms } from '../../contracts/index.ts';
import { unreachable } from '../../session/index.ts';
import type { KnownAnswer, LastGo, NotedCall, WitnessRecord } from './records.ts';

/** What a host knows of one call that is not settled, by itself. */
export interface KnownCall {
  readonly id: string;
  /** Of what was announced first. */
  readonly digest: string;
  /** Number of the turn in which it became known; -1: nobody knows. */
  turn: number;
  /** Epoch milliseconds: when it became known. */
  readonly since: number;
  /** It is in the journal, not in this process alone. */
  isNoted: boolean;
  readonly questions: PutQuestion[];
  /** A question was put since anything became void. */
  asks: boolean;
  readonly answers: KnownAnswer[];
  decision: DecisionRecord | undefined;
  /** It was started, and no result of it has been taken. */
  started: boolean;
  attempts: number;
  /** How often what was said of it became void: what was judged before that is not acted upon. */
  voids: number;
  last: LastGo | undefined;
}

/** Calls that nothing was said of and that are not listed any more: of so many the first words bind. */
const MOST_HEARD = 10_000;
/** Calls that are heard of between two looks at how many there are. */
const HEARD_AT_ONCE = 1000;
/** Calls that are not settled: of one that lists, starts and leaves them without an end, no more are taken. */
export const MOST_UNSETTLED = 200_000;
/** Questions about one call: of more, the newest. */
const MOST_QUESTIONS = 1000;
/** Settled calls that one record names. */
const SOME = 1000;
/** Settled calls that are known by name: one that was settled so many ago is a new one, where it is named again. */
const MOST_SETTLED = 100_000;

/** The state of a session's calls, folded from what its host has noted. */
export class KnownCalls {
  /** Those that are not settled. */
  readonly calls = new Map<string, KnownCall>();
  /** By number of the turn. */
  readonly terms: TurnTerms[] = [];
  mode: PermissionMode | undefined;
  /** What its executor has listed when it was asked last. */
  #listed: ReadonlySet<string> = new Set();
  /** Heard of since somebody looked at how many there are. */
  #heard = 0;
  /** Given up before they were started, in that order: of so many as of those that were only heard of is known what was said. */
  readonly #given = new Set<string>();
  /** Settled ones, each with those of the host's questions about it that were answered. */
  readonly #past = new Map<string, readonly string[]>();
  /** The first records name settled calls, so many as one does, and stay as they are. */
  #full = 0;
  /** Settled ones that are not among those. */
  #loose: string[] = [];

  /** The newest turn; -1 before the first. */
  get turn(): number {
    return this.terms.length - 1;
  }

  /** Calls that are settled. */
  get settled(): number {
    return this.#past.size;
  }

  isSettled(id: string): boolean {
    return this.#past.has(id);
  }

  /** Whether one of the host's questions about a call was answered. */
  isAnswered(callId: string, requestId: string): boolean {
    const past = this.#past.get(callId);
    if (past) return past.includes(requestId);
    return this.calls.get(callId)?.answers.some((answer) => answer.requestId === requestId) ?? false;
  }

  /** Whether something is open by the host's own notes, with these added. */
  waitsAfter(records: readonly WitnessRecord[]): boolean {
    const over = new Set<string>();
    for (const record of records) {
      if (record.kind === 'settled' || record.kind === 'void') over.add(record.callId);
      else if ('callId' in record) return true;
    }
    for (const call of this.calls.values()) if (!over.has(call.id) && (call.started || canBeVoid(call))) return true;
    return false;
  }

  /** No new calls are taken. */
  get isFull(): boolean {
    return this.calls.size >= MOST_UNSETTLED;
  }

  /** Takes notice of a call; undefined: it is settled, or something else was announced under its id, or there are too many. */
  meet(id: string, digest: string): KnownCall | undefined {
    return this.#meet(id, digest, Date.now(), this.isFull);
  }

  #meet(id: string, digest: string, since = Date.now(), isFull = false): KnownCall | undefined {
    if (this.#past.has(id)) return undefined;
    const known = this.calls.get(id);
    if (known) return known.digest === digest ? known : undefined;
    if (isFull) return undefined;
    const call: KnownCall = {
      id,
      digest,
      turn: this.turn,
      since,
      isNoted: false,
      questions: [],
      asks: false,
      answers: [],
      decision: undefined,
      started: false,
      attempts: 0,
      voids: 0,
      last: undefined,
    };
    this.calls.set(id, call);
    return call;
  }

  /** Takes notice of a call that is announced in a stream: of those that its executor never lists, the newest stay. */
  hear(id: string, digest: string): void {
    this.meet(id, digest);
    if (++this.#heard >= HEARD_AT_ONCE) this.forgetHeard(this.#listed);
  }

  /** An executor that names new calls without an end is not listened to for ever. */
  forgetHeard(listed: ReadonlySet<string>): void {
    this.#listed = listed;
    this.#heard = 0;
    if (this.calls.size <= MOST_HEARD) return;
    const heard = [...this.calls.values()].filter((call) => !listed.has(call.id) && isUnsaid(call));
    for (const { id } of heard.slice(0, Math.max(0, heard.length - MOST_HEARD))) this.calls.delete(id);
  }

  /** What was noted is other notes now. What was only heard of here stays: its first words bind. */
  reset(): void {
    for (const call of this.calls.values()) {
      if (call.isNoted) this.calls.delete(call.id);
      else call.turn = -1;
    }
    this.#past.clear();
    this.#given.clear();
    this.#full = 0;
    this.#loose = [];
    this.terms.length = 0;
    this.mode = undefined;
  }

  apply(record: WitnessRecord): void {
    switch (record.kind) {
      case 'mode':
        this.mode = record.mode ?? undefined;
        break;
      case 'terms':
        for (const { callId, digest, at } of record.calls ?? []) this.#noted(callId, digest, at);
        if (record.begins || this.terms.length === 0) this.terms.push(record.terms);
        else this.terms[this.turn] = record.terms;
        break;
      case 'past':
        for (const [id, answered] of record.calls) this.#settle(id, answered);
        this.#countFull();
        break;
      case 'turns':
        this.terms.push(...record.terms);
        this.mode = record.mode ?? undefined;
        break;
      case 'call':
        this.calls.set(record.call.callId, knownCall(record.call));
        this.#sortOut(record.call.callId);
        break;
      case 'settled': {
        const answers = this.calls.get(record.callId)?.answers ?? [];
        this.#settle(record.callId, [...new Set(answers.map(({ requestId }) => requestId))]);
        break;
      }
      case 'question':
      case 'answer':
      case 'go':
      case 'unsaid':
      case 'back':
      case 'void': {
        const call =
          'at' in record ? this.#noted(record.callId, record.digest, record.at) : this.calls.get(record.callId);
        if (call) applyTo(call, record);
        this.#sortOut(record.callId);
        break;
      }
      default:
        unreachable(record, 'a note');
    }
  }

  /**
   * Records of which the same comes as from all that were applied, behind the first `after` of those. Of twice as many
   * settled calls as are known by name the older half is forgotten.
   */
  summary(): { after: number; records: WitnessRecord[] } {
    if (this.#past.size >= 2 * MOST_SETTLED) this.#forgetSettled();
    const records: WitnessRecord[] = [];
    for (let at = 0; at < this.#loose.length; at += SOME) {
      const calls = this.#loose.slice(at, at + SOME).map((id) => [id, this.#past.get(id) ?? []] as const);
      records.push({ kind: 'past', calls });
    }
    const noted = [...this.calls.values()].filter(({ isNoted }) => isNoted);
    // The newest turn, and those that calls belong to which are not settled.
    const turns = [...new Set([...noted.map(({ turn }) => turn), this.turn])].filter((turn) => turn >= 0);
    turns.sort((a, b) => a - b);
    const terms = turns.map((turn) => this.terms[turn] ?? {});
    records.push({ kind: 'turns', terms, mode: this.mode ?? null });
    for (const call of noted)
      records.push({ kind: 'call', call: { ...callState(call), turn: turns.indexOf(call.turn) } });
    return { after: this.#full, records };
  }

  /** The summary stands in the place of what it was made from. */
  shortened(): void {
    this.#countFull();
  }

  #countFull(): void {
    const full = Math.floor(this.#loose.length / SOME);
    this.#full += full;
    this.#loose = this.#loose.slice(full * SOME);
  }

  #forgetSettled(): void {
    let rest = this.#past.size - MOST_SETTLED;
    for (const id of this.#past.keys()) {
      if (rest-- === 0) break;
      this.#past.delete(id);
    }
    this.#full = 0;
    this.#loose = [...this.#past.keys()];
  }

  #noted(id: string, digest: string, since?: number): KnownCall | undefined {
    const known = this.calls.get(id);
    // What one host has noted binds the others, whatever they have been told.
    if (known && !known.isNoted && known.digest !== digest) this.calls.delete(id);
    // What is noted counts, however much there is.
    const call = this.#meet(id, digest, since);
    if (call) call.isNoted = true;
    return call;
  }

  /** What was said of a call that was given up, and was not started, is void: where it is listed again, it is as good as new. */
  #sortOut(id: string): void {
    const call = this.calls.get(id);
    this.#given.delete(id);
    if (!call || call.voids === 0 || call.started || call.attempts > 0 || canBeVoid(call)) return;
    this.#given.add(id);
    const [oldest] = this.#given;
    if (this.#given.size <= MOST_HEARD || oldest === undefined) return;
    this.#given.delete(oldest);
    this.calls.delete(oldest);
  }

  #settle(id: string, answered: readonly string[]): void {
    this.calls.delete(id);
    this.#given.delete(id);
    if (this.#past.has(id)) return;
    this.#past.set(id, answered);
    this.#loose.push(id);
  }
}

/** Something was said of it that becomes void where its executor gives it up. A start does not. */
export function canBeVoid({ started, decision, asks, answers, attempts }: KnownCall): boolean {
  if ((!started && decision !== undefined) || asks) return true;
  return answers.some(({ isVoid, attempt }) => !isVoid && attempt === attempts);
}

/** Nothing was asked, answered or decided of it; that it was announced may be noted. */
function isUnsaid({ started, decision, questions, answers, attempts, voids, last }: KnownCall): boolean {
  const counts = questions.length + answers.length + attempts + voids;
  return counts === 0 && !started && decision === undefined && last === undefined;
}

function callState({ id, isNoted: _, decision, last, ...rest }: KnownCall): NotedCall {
  return { callId: id, ...rest, ...(decision ? { decision } : {}), ...(last ? { last } : {}) };
}

function knownCall({ callId, questions, answers, ...rest }: NotedCall): KnownCall {
  return {
    decision: undefined,
    last: undefined,
    ...rest,
    id: callId,
    isNoted: true,
    questions: [...questions],
    answers: answers.map((answer) => ({ ...answer })),
  };
}

type OfOpenCall = Extract<WitnessRecord, { callId: string }>;

function applyTo(call: KnownCall, record: Exclude<OfOpenCall, { kind: 'settled' }>): void {
  switch (record.kind) {
    case 'question':
      call.questions.push(record.question);
      if (call.questions.length > MOST_QUESTIONS) call.questions.shift();
      call.asks = true;
      break;
    case 'answer':
      call.answers.push({ ...record.answer, id: record.id, attempt: call.attempts });
      break;
    case 'go':
      call.last = {
        id: record.id,
        before: { decision: call.decision, started: call.started, attempts: call.attempts },
      };
      call.decision = record.decision;
      if (!record.starts) break;
      call.started = true;
      call.attempts++;
      break;
    case 'unsaid': {
      const at = call.answers.findIndex(({ id }) => id === record.id);
      if (at >= 0) call.answers.splice(at, 1);
      break;
    }
    case 'back':
      // Somebody has let it run since: that start stands.
      if (call.last?.id !== record.id) break;
      Object.assign(call, { decision: undefined }, call.last.before);
      call.last = undefined;
      break;
    case 'void':
      call.voids++;
      call.asks = false;
      for (const answer of call.answers) answer.isVoid = true;
      if (!call.started) call.decision = undefined;
      // A start that is taken back later gives nothing back that is void by then.
      if (call.last && !call.last.before.started) {
        call.last = { ...call.last, before: { ...call.last.before, decision: undefined } };
      }
      break;
    default:
      unreachable(record, 'a note');
  }
}
