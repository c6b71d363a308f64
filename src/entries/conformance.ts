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
  Requirement,
} from '../conformance/index.ts';
export {
  answerFixture,
  conformanceTests,
  ModelServer,
  requirements,
  runConformance,
  targetOfCommand,
  targetOfFactory,
  targetOfSource,
} from '../conformance/index.ts';
