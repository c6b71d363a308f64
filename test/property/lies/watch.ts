import type { Principal } from '../../../src/contracts/index.ts';
import { canonicalJson } from '../../../src/contracts/index.ts';
import { harmless, isBoss, quorum } from './tools.ts';

interface Question {
  callId: string;
  yes: { by: Principal; what: string }[];
  refused: boolean;
  used: boolean;
}

const what = (tool: string, args: unknown) => canonicalJson({ tool, args: args as Record<string, unknown> });

/** What the people of one session have really said to one host, and what has run by it. */
export class Watch {
  readonly faults: string[] = [];
  /** Who has begun or gone on with a turn. */
  readonly began: Principal[] = [];
  readonly judged = new Set<string>();
  readonly #questions = new Map<string, Question>();
  readonly #runs = new Map<string, number>();

  policyAsked(tool: string, args: unknown): void {
    this.judged.add(what(tool, args));
  }

  said(requestId: string, tool: string, args: unknown, by: Principal): void {
    this.#question(requestId).yes.push({ by, what: what(tool, args) });
  }

  refused(requestId: string): void {
    const question = this.#question(requestId);
    if (question.yes.length === 0) question.refused = true;
  }

  ran(tool: string, args: unknown, callId: string): void {
    // What may run again is not noted as started.
    const runs = (this.#runs.get(callId) ?? 0) + (harmless.has(tool) ? 0 : 1);
    this.#runs.set(callId, runs);
    const fault = this.#fault(tool, what(tool, args), callId, runs);
    if (fault !== undefined) this.faults.push(`${tool} ${JSON.stringify(args)} of ${callId} ran: ${fault}`);
  }

  #fault(tool: string, ran: string, callId: string, runs: number): string | undefined {
    if (tool === 'drop') return 'policy denies it';
    if (!this.judged.has(ran)) return 'policy never saw these arguments';
    if (tool === 'sign' && !this.began.some(isBoss)) return 'no boss has begun a turn';
    const needed = quorum[tool] ?? 1;
    const isAsked = quorum[tool] !== undefined;
    if (!isAsked && (runs === 1 || harmless.has(tool))) return undefined;
    for (const question of this.#questions.values()) {
      if (question.callId !== callId || question.refused) continue;
      if (question.used && !harmless.has(tool)) continue;
      const people = new Set<string>();
      for (const { by, what: shown } of question.yes) {
        if (shown === ran && (!isAsked || this.#mayDecide(tool, by))) people.add(by.id);
      }
      if (people.size < (isAsked ? needed : 1)) continue;
      question.used = true;
      return undefined;
    }
    return `run ${runs}, and nobody has said yes to it`;
  }

  #mayDecide(tool: string, by: Principal): boolean {
    if (!isBoss(by)) return false;
    // Where only one person has begun turns, that one has asked.
    return tool !== 'wire' || !this.began.every(({ id }) => id === by.id);
  }

  #question(requestId: string): Question {
    const known = this.#questions.get(requestId);
    if (known) return known;
    const mark = requestId.lastIndexOf('#');
    const question = { callId: requestId.slice(0, mark), yes: [], refused: false, used: false };
    this.#questions.set(requestId, question);
    return question;
  }
}
