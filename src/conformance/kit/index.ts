/** What judges one executor: targets, probes, requirements, runs. */
export { Breach, Untestable } from './breach.ts';
export type { RequirementCheck } from './check.ts';
export type { RunOptions } from './kit-shape.ts';
export { kitInput } from './kit-shape.ts';
export type { EventOf } from './live-stream.ts';
export type { Input, Probe } from './probe.ts';
export type { Requirement, Tier } from './requirement.ts';
export type { Finding, Status } from './run.ts';
export { isFailure, judge, runConformance } from './run.ts';
export type { ConformanceTarget, RunningExecutor } from './target.ts';
export { sharedTarget, targetOfFactory, targetOfSource } from './target.ts';
export { json } from './transcript.ts';
