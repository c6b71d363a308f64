/** What joins nodes on several machines, by other products: dispatchers and buses. */
export { natsBus } from './nats-bus.ts';
export type { BusOptions } from './postgres-bus.ts';
export { postgresBus } from './postgres-bus.ts';
export type { PostgresDispatcherOptions } from './postgres-dispatcher.ts';
export { postgresDispatcher } from './postgres-dispatcher.ts';
export type { RestateDispatcherOptions } from './restate-dispatcher.ts';
export { restateDispatcher } from './restate-dispatcher.ts';
export type { WebhookOptions } from './webhooks.ts';
export { webhooks } from './webhooks.ts';
