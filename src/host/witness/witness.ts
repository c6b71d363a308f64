import type {
  DecisionRecord,
  ExecutorStreamOptions,
  HostAnswer,
  PutQuestion,
  ReportedRequest,
  SessionInput,
  Settlement,
} from '../../contracts/index.ts';
import { CoxswainError, callIdOf, canonicalJson, isCoxswainError, isHostQuestion } from '../../contracts/index.ts';
import { isVote } from '../../gate/index.ts';
import { newId, unreachable } from '../../session/index.ts';
import type { KnownCall, KnownCalls } from './known-calls.ts';
import { canBeVoid } from './known-calls.ts';
import type { JournalAnswer, WitnessRecord } from './records.ts';
import type { SessionJournal } from './session-journal.ts';

type SaidRecord<Kind extends 'go' | 'answer'> = Extract<WitnessRecord, { kind: Kind }>;

/** What was noted before an executor was told. */
export interface Said {
  goes: readonly SaidRecord<'go'>[];
  answers: readonly SaidRecord<'answer'>[];
}

const nothingSaid: Said = { goes: [], answers: [] };

/** Notes what a host says to an executor: before it is said, or once the executor has taken it. */
export class Witness {
  readonly #journal: SessionJournal;
  /** How each call stood when this handle saw it last. */
  readonly #seen = new Map<string, { digest: string; attempts: number; voids: number; runsHere: boolean }>();

  constructor(journal: SessionJournal) {
    this.#journal = journal;
  }

  /** What these were judged by. */
  saw(open: readonly ReportedRequest[]): void {
    this.#seen.clear();
    const { calls } = this.#journal.known;
    for (const { requestId, handledBy } of open) {
      const call = calls.get(requestId);
      if (!call) continue;
      const { digest, attempts, voids } = call;
      this.#seen.set(requestId, { digest, attempts, voids, runsHere: handledBy === 'host' });
    }
  }

  /**
   * Inputs of a stream that is about to begin. Returns what is taken back where they are not taken.
   * @throws CoxswainError `FAILED_PRECONDITION / E_REQUEST_CLOSED` where another host was faster
   */
  async hears(inputs: readonly SessionInput[], { terms }: ExecutorStreamOptions): Promise<Said> {
    const begins = inputs.some(({ kind }) => kind === 'message');
    let said: Said = nothingSaid;
    await this.#journal.note((known) => {
      const goes: SaidRecord<'go'>[] = [];
      const answers: SaidRecord<'answer'>[] = [];
      for (const input of inputs) {
        if (input.kind === 'tool_approval' && !isHostQuestion(input.requestId)) {
          if (input.decision) goes.push(this.#go(input.requestId, known, input.decision));
        } else if (input.kind === 'tool_approval' || input.kind === 'elicitation_response') {
          const call = known.calls.get(callIdOf(input.requestId));
          if (call && isHostQuestion(input.requestId)) answers.push(answered(call, input.requestId, answerIn(input)));
        }
      }
      said = { goes, answers };
      return [...goes, ...answers, ...(terms ? [termsOf(known, terms, begins)] : [])];
    });
    return said;
  }

  /** Questions that are open as they were noted are not noted again. */
  async puts(questions: readonly PutQuestion[]): Promise<void> {
    await this.#journal.note(({ calls }) =>
      questions.flatMap((question) => {
        const call = calls.get(callIdOf(question.requestId));
        if (!call || (call.asks && call.questions.some((known) => canonicalJson(known) === canonicalJson(question))))
          return [];
        return [{ kind: 'question' as const, ...of(call), question, at: call.since }];
      }),
    );
  }

  /** The stream has ended: its inputs were taken. */
  async took(inputs: readonly SessionInput[]): Promise<void> {
    await this.#journal.note(({ calls }) =>
      inputs.flatMap((input) => {
        if (input.kind !== 'tool_result' || input.interim) return [];
        return settled(calls.get(input.requestId));
      }),
    );
  }

  /** It was not taken: nothing has been started by it, and nobody has answered. */
  async takeBack({ goes = [], answers = [] }: Partial<Said>): Promise<void> {
    if (goes.length === 0 && answers.length === 0) return;
    await this.#journal.note(() => [
      ...goes.map(({ id, callId, digest }) => ({ kind: 'back' as const, id, callId, digest })),
      ...answers.map(({ id, callId, digest }) => ({ kind: 'unsaid' as const, id, callId, digest })),
    ]);
  }

  /** What an executor does not wait for any more was said of something that is over. */
  async gone(open: readonly ReportedRequest[]): Promise<void> {
    const ids = new Set(open.map(({ requestId }) => requestId));
    const gone = ({ calls }: KnownCalls): WitnessRecord[] =>
      [...calls.values()]
        .filter((call) => !ids.has(call.id) && canBeVoid(call))
        .map((call) => ({ kind: 'void', ...of(call) }));
    if (gone(this.#journal.known).length > 0) await this.#journal.note(gone);
  }

  async respond(requestId: string, answer: HostAnswer, pass: () => Promise<Settlement>): Promise<Settlement> {
    if (isHostQuestion(requestId)) return this.#answer(requestId, answer, pass);
    if (answer.kind !== 'approve') {
      const settlement = await pass();
      // Whoever settled it: it is not open again.
      if (settlement.status !== 'waiting_quorum') await this.ended(requestId);
      return settlement;
    }
    if (!answer.starts || !answer.decision) return pass();
    const { decision } = answer;
    const goes: SaidRecord<'go'>[] = [];
    await this.#journal.note((known) => {
      goes[0] = this.#go(requestId, known, decision);
      return goes;
    });
    let isTaken = false;
    try {
      const settlement = await pass();
      isTaken = settlement.status === 'settled';
      return settlement;
    } finally {
      if (!isTaken) await this.takeBack({ goes });
    }
  }

  async #answer(requestId: string, answer: HostAnswer, pass: () => Promise<Settlement>): Promise<Settlement> {
    let before: JournalAnswer | undefined;
    const answers: SaidRecord<'answer'>[] = [];
    await this.#journal.note(({ calls }) => {
      const call = calls.get(callIdOf(requestId));
      if (!call) throw closed(requestId);
      const given = answerOf(requestId, answer);
      before = call.answers.find(
        (known) => known.requestId === requestId && !known.isVoid && (!known.quorum || isSame(known, given)),
      );
      if (before) return [];
      answers[0] = answered(call, requestId, given);
      return answers;
    });
    if (before) {
      const { action: outcome, by } = before;
      return { status: 'already_settled', outcome, ...(by ? { by: by.id } : {}) };
    }
    try {
      await pass();
    } catch (error) {
      if (isRefusal(error)) await this.takeBack({ answers });
      throw error;
    }
    return { status: isVote(answer) ? 'waiting_quorum' : 'settled', ...(answer.by ? { by: answer.by.id } : {}) };
  }

  /** Judged when the call stood as it was seen: what has been started since is not started again by that. */
  #go(requestId: string, { calls }: KnownCalls, decision: DecisionRecord): SaidRecord<'go'> {
    const call = calls.get(requestId);
    const seen = this.#seen.get(requestId);
    const isSame = call && seen?.digest === call.digest && seen.attempts === call.attempts && seen.voids === call.voids;
    if (!isSame) throw closed(requestId);
    return { kind: 'go', id: newId(), ...of(call), decision, starts: seen.runsHere, at: call.since };
  }

  /** It was ended by its host. */
  async ended(requestId: string): Promise<void> {
    await this.#journal.note(({ calls }) => settled(calls.get(requestId)));
  }
}

function of({ id, digest }: KnownCall): { callId: string; digest: string } {
  return { callId: id, digest };
}

function settled(call: KnownCall | undefined): WitnessRecord[] {
  return call ? [{ kind: 'settled', ...of(call) }] : [];
}

function answered(call: KnownCall, requestId: string, answer: Omit<JournalAnswer, 'requestId'>): SaidRecord<'answer'> {
  return { kind: 'answer', id: newId(), ...of(call), at: call.since, answer: { ...answer, requestId } };
}

function heardOf({ calls }: KnownCalls) {
  return [...calls.values()].filter(({ isNoted }) => !isNoted).map((call) => ({ ...of(call), at: call.since }));
}

/** Calls that only this process knows of stay with the turn in which they were asked for. */
function termsOf(
  known: KnownCalls,
  terms: NonNullable<ExecutorStreamOptions['terms']>,
  begins: boolean,
): WitnessRecord {
  const calls = begins ? heardOf(known) : [];
  const { principal: _, ...unknown } = terms;
  const isKnown = begins || known.terms[known.turn]?.principal !== undefined;
  return { kind: 'terms', terms: isKnown ? terms : unknown, begins, ...(calls.length > 0 ? { calls } : {}) };
}

function answerIn(
  input: Extract<SessionInput, { kind: 'tool_approval' | 'elicitation_response' }>,
): Omit<JournalAnswer, 'requestId'> {
  const by = input.by ? { by: input.by } : {};
  if (input.kind === 'elicitation_response') return { action: input.response.action, ...by };
  const { args, previewDigest } = input;
  return {
    action: 'accept',
    ...by,
    ...(args ? { args } : {}),
    ...(previewDigest === undefined ? {} : { digest: previewDigest }),
  };
}

function answerOf(requestId: string, answer: HostAnswer): JournalAnswer {
  const by = answer.by ? { by: answer.by } : {};
  const reason = 'reason' in answer && answer.reason !== undefined ? { reason: answer.reason } : {};
  switch (answer.kind) {
    case 'approve': {
      const { args, previewDigest, quorum } = answer;
      return {
        requestId,
        action: 'accept',
        ...by,
        ...reason,
        ...(args ? { args } : {}),
        ...(previewDigest === undefined ? {} : { digest: previewDigest }),
        ...(quorum === undefined ? {} : { quorum }),
      };
    }
    case 'deny':
      return { requestId, action: 'decline', ...by, ...reason };
    case 'elicitation':
      return { requestId, action: answer.action, ...by, ...reason };
    case 'result':
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_WRONG_ANSWER',
        `wrong answer to ${JSON.stringify(requestId)}: it is a question; answer with approve or deny`,
        { details: { requestId } },
      );
    default:
      return unreachable(answer, 'an answer');
  }
}

/** The executor has looked at it and said no. Of one that cannot be reached nobody knows what it has taken. */
function isRefusal(error: unknown): boolean {
  return isCoxswainError(error) && error.status !== 'UNAVAILABLE' && error.status !== 'DEADLINE_EXCEEDED';
}

/** One person's vote counts once. */
function isSame(a: JournalAnswer, b: JournalAnswer): boolean {
  const ballot = ({ action, by, digest, args }: JournalAnswer) => ({
    action,
    by: by ? [by.id, by.onBehalfOf ?? null] : null,
    digest: digest ?? null,
    args: args ?? null,
  });
  return canonicalJson(ballot(a)) === canonicalJson(ballot(b));
}

function closed(requestId: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_REQUEST_CLOSED',
    `request ${JSON.stringify(requestId)} is not open any more; nothing was noted`,
    { details: { requestId } },
  );
}
