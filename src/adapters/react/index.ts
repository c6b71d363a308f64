/** Hooks for React over the stores for user interfaces. */
export { useApprovals } from './use-approvals.ts';
export { useSession } from './use-session.ts';
