/** What a run of the kit found, written down. */
export { junitOf } from './junit.ts';
export { describeFinding, tableOf } from './table.ts';
export type { ExpectedFailures, Report, ReportRow, RequirementVerdict } from './verdict.ts';
export { makeReport, parseExpectedFailures } from './verdict.ts';
