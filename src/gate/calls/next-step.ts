import { unreachable } from '../../base/index.ts';
import type { QuestionState } from '../questions/index.ts';

/** What is recorded of a call that has no result, and what is known of its tool where it is looked at. */
export interface OpenCallFacts {
  /** Who moves once it may run: whoever looks at it, somebody else, or nobody: its tool is not known now. */
  readonly mover: 'here' | 'elsewhere' | 'gone';
  /** It was begun and has no result: it runs in another process, or whoever ran it is gone. */
  readonly begun?: 'elsewhere' | 'lost' | undefined;
  /** Begun again, it does nothing that the first run has not done: by its author's word, or since it goes on. */
  readonly isRepeatable: boolean;
  /** The decision on its start. */
  readonly decision?: 'approved' | 'denied' | undefined;
  /** `isRerun`: whether to run it again; such a yes is for one more run: `isCurrent` where it has not run since. */
  readonly question?:
    | { readonly state: QuestionState; readonly isRerun: boolean; readonly isCurrent: boolean }
    | undefined;
  /** Whether it may run is decided by somebody else, who has not decided. */
  readonly isJudgedElsewhere: boolean;
  /** Of a tool that is gone: somebody else was told of the call, or something is open within it. */
  readonly isOthers?: boolean | undefined;
}

/** Why a call is closed without a run. */
export type Refusal = 'denied' | 'cancelled' | 'expired' | 'not_again' | 'not_again_gone' | 'not_found';

export type NextStep =
  /** Somebody else must move: who was asked, who has the handler, who decides. */
  | { readonly kind: 'wait' }
  /** Nothing on record lets it run or refuses it: policy, hooks and people are asked. */
  | { readonly kind: 'judge' }
  /** It runs on what is on record; policy may still refuse. `isRerun`: it was begun before. */
  | { readonly kind: 'run'; readonly on: 'decision' | 'answer'; readonly isRerun: boolean }
  /** It may have run: its tool's author says what to do, else a person. */
  | { readonly kind: 'inquire' }
  | { readonly kind: 'settle'; readonly as: Refusal };

const WAIT: NextStep = Object.freeze({ kind: 'wait' });

/**
 * What is to be done about a call that has no result, on the grounds of the record alone: at the first look, after an
 * answer, and after a restart. A call that may have had effects is never run again on an earlier yes.
 */
export function nextStep(facts: OpenCallFacts): NextStep {
  const { mover, begun, isRepeatable, decision, question, isJudgedElsewhere } = facts;
  if (begun === 'elsewhere') return WAIT;
  if (mover === 'gone') return withoutTool(facts);
  const isRerun = begun === 'lost';
  if (isRerun && !isRepeatable) return mover === 'elsewhere' ? WAIT : unknownOutcome(facts);
  if (question && question.state !== 'accepted') return withoutYes(question.state);
  if (!question && decision === 'denied') return { kind: 'settle', as: 'denied' };
  if (mover === 'elsewhere') return WAIT;
  if (question) return { kind: 'run', on: 'answer', isRerun };
  if (decision === 'approved') return { kind: 'run', on: 'decision', isRerun };
  return isJudgedElsewhere ? WAIT : { kind: 'judge' };
}

/** Its toolset may be away for a while: what somebody is asked stays asked, what may have run is not said to be unknown. */
function withoutTool(facts: OpenCallFacts): NextStep {
  const { begun, decision, question, isJudgedElsewhere, isOthers } = facts;
  if (isOthers) return WAIT;
  if (begun) return unknownOutcome(facts);
  if (question && question.state !== 'accepted') return withoutYes(question.state);
  return isJudgedElsewhere && !decision && !question ? WAIT : { kind: 'settle', as: 'not_found' };
}

/** Whoever ran it is gone: its effects are unknown. */
function unknownOutcome({ mover, question }: OpenCallFacts): NextStep {
  // A yes is for one more run, not for the runs after that.
  if (!question?.isRerun || !question.isCurrent) return { kind: 'inquire' };
  if (question.state === 'open') return WAIT;
  if (question.state !== 'accepted') return { kind: 'settle', as: 'not_again' };
  return mover === 'gone' ? { kind: 'settle', as: 'not_again_gone' } : { kind: 'run', on: 'answer', isRerun: true };
}

function withoutYes(state: Exclude<QuestionState, 'accepted'>): NextStep {
  switch (state) {
    case 'open':
      return WAIT;
    case 'expired':
      return { kind: 'settle', as: 'expired' };
    case 'declined':
      return { kind: 'settle', as: 'denied' };
    case 'cancelled':
      return { kind: 'settle', as: 'cancelled' };
    default:
      return unreachable(state, 'what a question has come to');
  }
}
