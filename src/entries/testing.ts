/**
 * Scripted models and executors, for tests of agents and hosts.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { Script, ScriptedStep } from '../testing/index.ts';
export { lyingExecutor, ScriptedModel } from '../testing/index.ts';
