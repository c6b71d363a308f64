/** Answers, aborts and questions of a session while it runs or rests. */
export { heedLog } from './abort-elsewhere.ts';
export { originOf } from './abort-part.ts';
export type { AbortCall } from './abort-session.ts';
export { abortSession } from './abort-session.ts';
export { answerRequest } from './answer-request.ts';
export { EndsGivenBack } from './given-back.ts';
export { openRequestNow, openRequests, openRequestsNow } from './open-requests.ts';
export { OpenRequests } from './pending-requests.ts';
export { storeQuestions } from './put-questions.ts';
export { settling } from './settling.ts';
export { standingOf } from './standing.ts';
export type { RunStart, StartedRun } from './start-run.ts';
export { startRun } from './start-run.ts';
export type { SteerWords } from './steer.ts';
export { storeSteer } from './steer.ts';
export type { Beside } from './store-beside.ts';
export { storeBeside } from './store-beside.ts';
export { storeConfig } from './store-config.ts';
