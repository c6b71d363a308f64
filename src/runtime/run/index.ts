/** One run of a session, from its inputs to its end. */
export { DEFAULT_TOOL_CONCURRENCY } from '../../gate/index.ts';
export { approvedEvent } from './accept-inputs.ts';
export { Invocation } from './invocation.ts';
export type { RunnerOptions, RunRequest } from './runner.ts';
export {
  assertUniquePlugins,
  checkEngine,
  createEngine,
  openOrCreate,
  Runner,
} from './runner.ts';
