/** One run: inner streams, calls, questions, end. */
export { answerRun } from './ask-in-run.ts';
export { HostedRun } from './hosted-run.ts';
export { closedEnd, failedEnd, shownEnd } from './run-end.ts';
export { passSteer } from './user-message.ts';
