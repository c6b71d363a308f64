/** One run of a session, from its inputs to its end. */
export { approvedEvent } from './accept-inputs.ts';
export { Invocation } from './invocation.ts';
export type { RunnerOptions, RunRequest } from './runner.ts';
export {
  assertUniquePlugins,
  checkEngine,
  createEngine,
  DEFAULT_TOOL_CONCURRENCY,
  openOrCreate,
  Runner,
} from './runner.ts';
