/** The conformance kit: does an executor keep the contract? Judges any AgentSession, whoever wrote it. */
export type { Check } from './check.ts';
export { REQUIREMENTS_VERSION, requirements } from './checks/index.ts';
export type { FixtureCall, FixtureEntry, FixtureStep } from './fixture.ts';
export { answerFixture, parseFixture } from './fixture.ts';
export { junitOf } from './report/junit.ts';
export { describeFinding, tableOf } from './report/table.ts';
export type { ExpectedFailures, Report, Row, Verdict } from './report/verdict.ts';
export { makeReport, parseExpectedFailures } from './report/verdict.ts';
export type { Requirement, Tier } from './requirement.ts';
export { Breach, Untestable } from './requirement.ts';
export type { Finding, RunOptions, Status } from './run.ts';
export { isFailure, judge, runConformance } from './run.ts';
export type { LaunchOptions } from './stdio/launch.ts';
export { launchExecutor, PROFILE_VERSION, targetOfCommand } from './stdio/launch.ts';
export type { ConformanceTarget, RunningExecutor } from './target.ts';
export { sharedTarget, targetOfFactory, targetOfSource } from './target.ts';
export { type ConformanceTest, conformanceTests } from './tests.ts';
