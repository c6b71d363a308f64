import { anything, checkMembers, checkShape } from '../../base/index.ts';
import type { HostAnswer, MessageInput, SessionInput } from '../../contracts/index.ts';
import { HOST_FACTS } from '../../contracts/index.ts';

// An answer permits something. A member that is not known may have been meant to change or narrow what is permitted: it
// is misspelt, or of a newer peer. So it is refused, whoever gives it.

/** A member that the contract has, or gets, and that is not here does not compile. */
type MembersOf<T extends { kind: string }> = {
  readonly [K in T['kind']]: Readonly<Record<Exclude<keyof Extract<T, { kind: K }>, HostFact>, true>>;
};
type HostFact = (typeof HOST_FACTS)[number];

const ofAnswers: MembersOf<HostAnswer> = {
  result: { kind: true, result: true, by: true },
  approve: { kind: true, args: true, reason: true, previewDigest: true, remember: true, by: true },
  deny: { kind: true, reason: true, remember: true, by: true },
  elicitation: { kind: true, action: true, content: true, reason: true, by: true },
};

type AnswerInput = Exclude<SessionInput, { kind: 'message' | 'continue' }>;

const ofInputs: MembersOf<AnswerInput> = {
  tool_result: { kind: true, requestId: true, result: true, interim: true },
  tool_approval: { kind: true, requestId: true, args: true, previewDigest: true, by: true },
  elicitation_response: { kind: true, requestId: true, response: true, by: true },
};

const ofReplies: Readonly<Record<keyof Extract<AnswerInput, { kind: 'elicitation_response' }>['response'], true>> = {
  action: true,
  content: true,
};

/** A no permits nothing: what a yes of its kind would have beside it does no harm. */
const ALL = [...new Set(Object.values(ofAnswers).flatMap((members) => Object.keys(members)))];

/** Words of anybody's, of which nothing here is made; and those of hosts, which whoever is no host has taken away. */
const ALSO = ['_meta', ...HOST_FACTS];

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the member and what is known */
export function checkAnswerMembers(answer: HostAnswer): void {
  const known = Object.keys(ofAnswers[answer.kind]);
  const isNo = answer.kind === 'deny' || (answer.kind === 'elicitation' && answer.action !== 'accept');
  // An accepted question of a host is an approval, which is bound to what was shown.
  const others = isNo ? ALL : answer.kind === 'elicitation' ? ['previewDigest'] : [];
  checkMembers(answer, 'answer', known, [...others, ...ALSO]);
}

/**
 * Those of an input that answers something. A message permits nothing: of its members only those are refused that are
 * nearly one that is known.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` naming the member and what is known
 */
export function checkInputMembers(input: SessionInput, where: string): void {
  if (input.kind === 'message') checkShape<MessageInput>(input, where, ofMessages);
  if (input.kind === 'message' || input.kind === 'continue') return;
  checkMembers(input, where, Object.keys(ofInputs[input.kind]), ALSO);
  if (input.kind !== 'elicitation_response') return;
  checkMembers(input.response, `${where}.response`, Object.keys(ofReplies), ALSO);
}

const ofMessages = { kind: anything, content: anything, role: anything };
