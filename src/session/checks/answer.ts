import { guarded } from '../../base/index.ts';
import type { GivenAnswer, HostAnswer, RequestAnswer } from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { checkAnswerMembers } from './answer-members.ts';
import { checkSize } from './input.ts';
import { checkPrincipal } from './principal.ts';

const actions: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * An answer, also one that is only a word, as it may be judged: of a known shape, and a copy, so that what was checked is what is stored. Who answers
 * is compared with who may: a `by` that names nobody must not count as somebody else.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT | E_NOT_JSON | E_TOO_DEEP | E_TOO_LARGE`
 */
export function checkAnswer(answer: HostAnswer | GivenAnswer): HostAnswer {
  return guarded('the answer', () => checked(inFull(answer)));
}

/** A plain yes or no that is only its word, as the object that it stands for. */
export function inFull<A extends HostAnswer>(answer: A | Extract<GivenAnswer, string>): A | RequestAnswer {
  return answer === 'approve' || answer === 'deny' ? { kind: answer } : answer;
}

function checked<A extends HostAnswer>(answer: A): A {
  if (!isRecord(answer))
    throw bad('it is no object, nor "approve" or "deny"; give {kind: "approve"}, "deny", "result" or "elicitation"');
  const copy = copyJson(answer, 'answer');
  const { kind, by } = copy;
  if (by !== undefined) checkPrincipal(by, 'by');
  const reason: unknown = 'reason' in copy ? copy.reason : undefined;
  if (reason !== undefined && typeof reason !== 'string') throw bad('reason is not text');
  switch (kind) {
    case 'approve':
      checkRecord(copy.args, 'args');
      checkRemember(copy.remember);
      break;
    case 'deny':
      break;
    case 'result':
      if (!Array.isArray(copy.result?.content)) throw bad('result.content is not an array of parts');
      break;
    case 'elicitation':
      if (!actions.includes(copy.action)) throw bad('action is not accept, decline or cancel');
      checkRecord(copy.content, 'content');
      break;
    default:
      kind satisfies never;
      throw bad(`kind ${JSON.stringify(kind) ?? 'is missing and'} is not approve, deny, result or elicitation`);
  }
  checkAnswerMembers(copy);
  checkSize(copy);
  return copy;
}

/** A place in a list: any other member of it is no option. */
function checkRemember(value: unknown): void {
  if (value !== undefined && !Number.isInteger(value)) throw bad('remember is not the number of an option');
}

function checkRecord(value: unknown, where: string): void {
  if (value !== undefined && !isRecord(value)) throw bad(`${where} is not an object`);
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(what: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `bad answer: ${what}`);
}
