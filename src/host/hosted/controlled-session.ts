import type { Hosted } from '../frame/index.ts';
import type { HostedRun } from '../run/index.ts';
import type { AnswerChecks } from './answer-checks.ts';

/** A hosted session, as what answers, aborts and goes on with it uses it. */
export interface ControlledSession extends Hosted {
  readonly liveRun: HostedRun | undefined;
  /** What judges an answer before it is stored. */
  readonly answerChecks: AnswerChecks;
  readonly isClosed: boolean;
  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean;
}
