import { hash } from 'node:crypto';
import type { DecisionRecord, PendingRequest, PermissionMode, PutQuestion, TurnTerms } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';

/** An answer to one of the host's questions. */
export type JournalAnswer = Omit<NonNullable<PendingRequest['answers']>[number], 'spent'>;

/** What all records of a call carry: its id, and what was announced under it. */
interface OfCall {
  callId: string;
  digest: string;
}

/** What a host notes of a session, in the order in which it became known. */
export type WitnessRecord =
  /** A turn is begun with these terms, or held to them from here on. `calls` were open before, by id and digest. */
  | { kind: 'terms'; terms: TurnTerms; begins: boolean; calls?: readonly OfCall[] }
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

/** What an executor wants: SHA-256 (hex) of the canonical JSON of name, arguments and who is to run it. */
export function announced({ name, args, handledBy }: Pick<PendingRequest, 'name' | 'args' | 'handledBy'>): string {
  return hash('sha256', canonicalJson({ name: name ?? '', args: args ?? {}, handledBy: handledBy ?? 'agent' }));
}
