import { useMemo, useSyncExternalStore } from 'react';
import type { PermissionMode } from '../../contracts/index.ts';
import type { SessionStore } from '../page/index.ts';
import { sessionStore } from '../page/index.ts';
import type { RemoteHost } from '../remote/index.ts';

/**
 * A session of a server in a React component: what it shows, and what a person does in it, as {@link SessionStore} has them.
 * It is opened when the component is mounted, and followed until it is unmounted; a turn that runs continues. Call `connect`
 * once, outside of components. Give one `sessionId` to each conversation: without one, each mounting begins a new session.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
 * @example
 * ```ts
 * import { connect } from 'coxswain/client';
 * import { useSession } from 'coxswain/react';
 *
 * const remote = connect('ws://127.0.0.1:4747', { token: 'secret' });
 * export function useClerk() {
 *   const { items, pending, send } = useSession(remote, 'clerk', { sessionId: 'main', create: true });
 *   return { items, pending, ask: () => send('Where is order 7?') };
 * }
 * ```
 */
export function useSession(
  remote: RemoteHost | Promise<RemoteHost>,
  agent: string,
  options: { sessionId?: string; create?: boolean; permissionMode?: PermissionMode; control?: boolean } = {},
): ReturnType<SessionStore['getSnapshot']> & Pick<SessionStore, 'send' | 'respond' | 'steer' | 'abort'> {
  const { sessionId, create, permissionMode, control } = options;
  const store = useMemo(
    () =>
      sessionStore(remote, agent, {
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(create === undefined ? {} : { create }),
        ...(permissionMode === undefined ? {} : { permissionMode }),
        ...(control === undefined ? {} : { control }),
      }),
    [remote, agent, sessionId, create, permissionMode, control],
  );
  const shown = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  const { send, respond, steer, abort } = store;
  return { ...shown, send, respond, steer, abort };
}
