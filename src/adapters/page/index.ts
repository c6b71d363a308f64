/** Sessions and open questions of a server as stores for user interfaces. */
export { approvalStore } from './approval-store.ts';
export { sessionStore } from './session-store.ts';
export type { SessionStore, SessionStoreOptions } from './store-types.ts';
