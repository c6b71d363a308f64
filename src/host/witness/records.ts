import { hash } from 'node:crypto';
import type { DecisionRecord, PermissionMode, PutQuestion, ReportedRequest, TurnTerms } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';

/** An answer to one of the host's questions. */
export type JournalAnswer = Omit<NonNullable<ReportedRequest['answers']>[number], 'spent'>;

/** What all records of a call carry: its id, and what was announced under it. */
interface OfCall {
  callId: string;
  digest: string;
}

/** All that counts of a call that is not settled. */
export interface NotedCall extends OfCall {
  /** Number of the turn in which it became known. */
  turn: number;
  /** Epoch milliseconds. */
  since: number;
  questions: readonly PutQuestion[];
  answers: readonly KnownAnswer[];
  decision?: DecisionRecord;
  started: boolean;
  attempts: number;
  voids: number;
  asks: boolean;
  last?: LastGo;
}

/** `id`: of its record. `attempt`: how often the call had been started before. `isVoid`: it stands for nothing. */
export type KnownAnswer = JournalAnswer & { id: string; attempt: number; isVoid?: true };

/** The newest `go`, and how the call stood before it. */
export interface LastGo {
  id: string;
  before: { decision?: DecisionRecord | undefined; started: boolean; attempts: number };
}

/** What a host notes of a session, in the order in which it became known. */
export type WitnessRecord =
  /** In the place of older records: settled calls, each with those of the host's questions that were answered. */
  | { kind: 'past'; calls: readonly (readonly [callId: string, answered: readonly string[]])[] }
  /** The same: the turns that count, and the calls that are not settled. */
  | { kind: 'turns'; terms: readonly TurnTerms[]; mode: PermissionMode | null }
  | { kind: 'call'; call: NotedCall }
  /**
   * A turn is begun with these terms, or held to them from here on. `calls` became known before, and by nothing else that was
   * noted; `at`: since when.
   */
  | { kind: 'terms'; terms: TurnTerms; begins: boolean; calls?: readonly (OfCall & { at: number })[] }
  | { kind: 'mode'; mode: PermissionMode | null }
  | ({ kind: 'question'; question: PutQuestion; at: number } & OfCall)
  /** `id`: of this record, made by whoever noted it. */
  | ({ kind: 'answer'; id: string; answer: JournalAnswer; at: number } & OfCall)
  /** It may run; with `starts`, it starts now. `epoch`: of whoever holds the session, where that is known. */
  | ({ kind: 'go'; id: string; decision: DecisionRecord; starts: boolean; at: number; epoch?: number } & OfCall)
  /** That `go` was not taken: nothing has started by it. */
  | ({ kind: 'back'; id: string } & OfCall)
  /** That answer was refused by the executor. */
  | ({ kind: 'unsaid'; id: string } & OfCall)
  /** Its executor stopped waiting for it: what was said of it until now is void. */
  | ({ kind: 'void' } & OfCall)
  | ({ kind: 'settled' } & OfCall);

/** Characters of an id that a host keeps: of whoever names calls, the names are as long as they like. */
export const MOST_ID = 1000;

export function isKeptId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MOST_ID;
}

/** What an executor wants: SHA-256 (hex) of the canonical JSON of name, arguments and who is to run it. */
export function announced({ name, args, handledBy }: Pick<ReportedRequest, 'name' | 'args' | 'handledBy'>): string {
  return hash('sha256', canonicalJson({ name: name ?? '', args: args ?? {}, handledBy: handledBy ?? 'agent' }));
}
