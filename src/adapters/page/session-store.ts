import { checkIs, checkOptions, flag, object, text } from '../../base/index.ts';
import type { RemoteHost } from '../remote/index.ts';
import { ShownSession } from './shown-session.ts';
import type { SessionStore, SessionStoreOptions } from './store-types.ts';

/**
 * A session of a server as a store for user interfaces: `subscribe` and `getSnapshot` are what React's `useSyncExternalStore`
 * takes, and what stores of Svelte, Vue and Solid are made of. Its functions are bound. It opens the session when somebody
 * subscribes, shows its history, follows it over lost connections and restarts of the server, and closes it when nobody is
 * subscribed any more; a turn that runs continues.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { connect, sessionStore } from 'coxswain/client';
 *
 * const store = sessionStore(connect('ws://127.0.0.1:4747', { token: 'secret' }), 'clerk', { sessionId: 'main', create: true });
 * const leave = store.subscribe(() => console.log(store.getSnapshot().status));
 * await store.send('Where is order 7?');
 * leave();
 * ```
 */
export function sessionStore(
  remote: RemoteHost | Promise<RemoteHost>,
  agent: string,
  options: SessionStoreOptions = {},
): SessionStore {
  checkIs(remote, 'sessionStore: the first argument', object);
  checkIs(agent, 'sessionStore: agent', text);
  const shape = { sessionId: text, create: flag, permissionMode: text, control: flag };
  checkOptions<SessionStoreOptions>(options, 'sessionStore: options', shape);
  return new ShownSession(remote, agent, options);
}
