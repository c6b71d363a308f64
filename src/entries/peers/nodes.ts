/**
 * What joins hosts on several machines: dispatchers, which bring turns to one that runs them, and buses, which carry news of events.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { natsBus, postgresBus, postgresDispatcher, restateDispatcher } from '../../adapters/nodes/index.ts';
export type { Bus, Dispatcher } from '../../contracts/index.ts';
