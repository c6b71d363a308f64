/** What joins nodes on several machines: dispatchers and buses of other products. */
export type { PostgresDispatcherOptions } from './postgres-dispatcher.ts';
export { postgresDispatcher } from './postgres-dispatcher.ts';
