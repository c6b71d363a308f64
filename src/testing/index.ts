/** For tests of agents and hosts. */

export type { AskedCall, Lies } from './lying-executor.ts';
export { lyingExecutor } from './lying-executor.ts';
export * from './scripted-model.ts';
