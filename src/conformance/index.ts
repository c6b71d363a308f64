/** The conformance kit: does an executor keep the contract? Judges any AgentSession, whoever wrote it. */

export { REQUIREMENTS_VERSION, requirements } from './checks/index.ts';
export type { Check, ConformanceTarget, Finding, Requirement, RunOptions, RunningExecutor, Status, Tier } from './kit/index.ts';
export { Breach, Untestable, isFailure, judge, runConformance, sharedTarget, targetOfFactory, targetOfSource } from './kit/index.ts';
export type { Fault, FixtureCall, FixtureEntry, FixtureStep, ModelRequestSeen, ModelServerOptions, ModelTurn } from './model-server/index.ts';
export { DECOY_KEY, ModelServer, OPAQUE_STATE, answerFixture, parseFixture } from './model-server/index.ts';
export type { ExpectedFailures, Report, Row, Verdict } from './report/index.ts';
export { describeFinding, junitOf, makeReport, parseExpectedFailures, tableOf } from './report/index.ts';
export type { LaunchOptions } from './stdio/index.ts';
export { PROFILE_VERSION, launchExecutor, targetOfCommand } from './stdio/index.ts';
export { type ConformanceTest, conformanceTests } from './tests.ts';
