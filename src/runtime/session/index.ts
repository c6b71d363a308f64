/** Answers, aborts and questions of a session while it runs or rests. */
export { settling } from '../store/index.ts';
export { heedLog } from './abort-elsewhere.ts';
export { originOf } from './abort-part.ts';
export type { AbortCall } from './abort-session.ts';
export { abortSession } from './abort-session.ts';
export { answerRequest } from './answer-request.ts';
export type { DescribeOptions } from './describe-agent.ts';
export { describeAgent } from './describe-agent.ts';
export { endData, storedEnd } from './end-data.ts';
export { EndsGivenBack } from './given-back.ts';
export { makeRequests, openRequestNow, openRequests, openRequestsNow } from './open-requests.ts';

export { OpenRequests } from './requests-of-calls.ts';
export type { RuntimeRun, RuntimeSessionOptions } from './runtime-session.ts';
export { RuntimeSession } from './runtime-session.ts';
export { forkAt, sessionFor } from './session-for.ts';
export { standingOf } from './standing.ts';
export { storeStarts } from './start-calls.ts';
export type { RunStart, StartedRun } from './start-run.ts';
export { startRun } from './start-run.ts';
export type { SteerWords } from './steer.ts';
export { storeSteer } from './steer.ts';
export type { Beside } from './store-beside.ts';
export { storeBeside } from './store-beside.ts';
export { storeConfig, storeQuestions } from './store-notes.ts';
