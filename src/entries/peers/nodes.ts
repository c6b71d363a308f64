/**
 * What joins hosts on several machines: dispatchers, which bring turns to a machine that runs them.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { postgresDispatcher } from '../../adapters/nodes/index.ts';
export type { Dispatcher } from '../../contracts/index.ts';
