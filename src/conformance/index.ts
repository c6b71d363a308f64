/** The conformance kit: does an executor keep the contract? Judges any AgentSession, whoever wrote it. */

export { REQUIREMENTS_VERSION, requirements } from './checks/index.ts';
export type {
  ConformanceTarget,
  Finding,
  Requirement,
  RequirementCheck,
  RunningExecutor,
  RunOptions,
  Status,
  Tier,
} from './kit/index.ts';
export {
  Breach,
  isFailure,
  judge,
  runConformance,
  sharedTarget,
  targetOfFactory,
  targetOfSource,
  Untestable,
} from './kit/index.ts';
export type {
  Fault,
  FixtureCall,
  FixtureEntry,
  FixtureStep,
  ModelRequestSeen,
  ModelServerOptions,
  ModelTurn,
} from './model-server/index.ts';
export { answerFixture, DECOY_KEY, ModelServer, OPAQUE_STATE, parseFixture } from './model-server/index.ts';
export type { ExpectedFailures, Report, ReportRow, RequirementVerdict } from './report/index.ts';
export { describeFinding, junitOf, makeReport, parseExpectedFailures, tableOf } from './report/index.ts';
export type { LaunchOptions } from './stdio/index.ts';
export { launchExecutor, PROFILE_VERSION, targetOfCommand } from './stdio/index.ts';
export { type ConformanceTest, conformanceTests } from './tests.ts';
