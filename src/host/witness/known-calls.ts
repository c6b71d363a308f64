import type { DecisionRecord, PermissionMode, PutQuestion, TurnTerms } from '../../contracts/index.ts';
import type { JournalAnswer, WitnessRecord } from './records.ts';

/** What a host knows of one call by itself. */
export interface KnownCall {
  readonly id: string;
  /** Of what was announced first. */
  readonly digest: string;
  /** Number of the turn in which it became known. */
  readonly turn: number;
  /** Epoch milliseconds: when it became known. */
  readonly since: number;
  readonly questions: PutQuestion[];
  /** `id`: of its record. `attempt`: how often the call had been started before. `isVoid`: it stands for nothing. */
  readonly answers: (JournalAnswer & { id: string; attempt: number; isVoid?: true })[];
  decision: DecisionRecord | undefined;
  /** It was started, and no result of it has been taken. */
  started: boolean;
  attempts: number;
  settled: boolean;
  /** How often what was said of it became void: what was judged before that is not acted upon. */
  voids: number;
  /** The newest `go`, and how the call stood before it. */
  last: { id: string; before: Pick<KnownCall, 'decision' | 'started' | 'attempts'> } | undefined;
}

/** The state of a session's calls, folded from what its host has noted. */
export class KnownCalls {
  readonly calls = new Map<string, KnownCall>();
  /** By number of the turn. */
  readonly terms: TurnTerms[] = [];
  mode: PermissionMode | undefined;

  /** The newest turn; -1 before the first. */
  get turn(): number {
    return this.terms.length - 1;
  }

  /** Takes notice of a call; undefined: something else was announced under its id. */
  meet(id: string, digest: string, since = Date.now()): KnownCall | undefined {
    const known = this.calls.get(id);
    if (known) return known.digest === digest ? known : undefined;
    const call: KnownCall = {
      id,
      digest,
      turn: this.turn,
      since,
      questions: [],
      answers: [],
      decision: undefined,
      started: false,
      attempts: 0,
      settled: false,
      voids: 0,
      last: undefined,
    };
    this.calls.set(id, call);
    return call;
  }

  apply(record: WitnessRecord): void {
    if (record.kind === 'mode') {
      this.mode = record.mode ?? undefined;
      return;
    }
    if (record.kind === 'terms') {
      for (const { callId, digest } of record.calls ?? []) this.meet(callId, digest);
      if (record.begins || this.terms.length === 0) this.terms.push(record.terms);
      else this.terms[this.turn] = record.terms;
      return;
    }
    const call = this.meet(record.callId, record.digest, 'at' in record ? record.at : undefined);
    if (call) applyTo(call, record);
  }
}

function applyTo(call: KnownCall, record: Exclude<WitnessRecord, { kind: 'mode' | 'terms' }>): void {
  switch (record.kind) {
    case 'question':
      call.questions.push(record.question);
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
      Object.assign(call, call.last.before);
      call.last = undefined;
      break;
    case 'void':
      call.voids++;
      for (const answer of call.answers) answer.isVoid = true;
      if (!call.started) call.decision = undefined;
      break;
    default:
      call.settled = true;
      call.started = false;
  }
}
