/**
 * What joins hosts on several machines: dispatchers, which bring turns to one that runs them, and buses, which carry news of events.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { natsBus, postgresBus, postgresDispatcher, restateDispatcher, webhooks } from '../../adapters/nodes/index.ts';
export type { Bus, Dispatcher, Outcomes } from '../../contracts/index.ts';
