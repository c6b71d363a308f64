import { useMemo, useSyncExternalStore } from 'react';
import { approvalStore } from '../page/index.ts';
import type { RemoteHost } from '../remote/index.ts';

type Store = ReturnType<typeof approvalStore>;

/**
 * Questions of all sessions that this person may answer, in a React component: an inbox.
 * @example
 * ```ts
 * import { connect } from 'coxswain/client';
 * import { useApprovals } from 'coxswain/react';
 *
 * const remote = connect('ws://127.0.0.1:4747', { token: 'secret' });
 * export function useInbox() {
 *   const { approvals, decide } = useApprovals(remote);
 *   return approvals.map((one) => ({ title: one.request.message, approve: () => decide(one, { kind: 'approve' }) }));
 * }
 * ```
 */
export function useApprovals(
  remote: RemoteHost | Promise<RemoteHost>,
): ReturnType<Store['getSnapshot']> & Pick<Store, 'decide'> {
  const store = useMemo(() => approvalStore(remote), [remote]);
  const shown = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  return { ...shown, decide: store.decide };
}
