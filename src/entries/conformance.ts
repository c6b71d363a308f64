/**
 * The conformance kit: does an executor keep the contract? Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type {
  ConformanceTarget,
  ConformanceTest,
  Finding,
  FixtureEntry,
  FixtureStep,
  Report,
  Requirement,
} from '../conformance/index.ts';
export {
  answerFixture,
  conformanceTests,
  junitOf,
  ModelServer,
  makeReport,
  parseExpectedFailures,
  requirements,
  runConformance,
  tableOf,
  targetOfCommand,
  targetOfFactory,
  targetOfSource,
} from '../conformance/index.ts';
