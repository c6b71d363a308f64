/**
 * Sessions and open questions in React: hooks without styles, over `connect` of `coxswain/client`.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { useApprovals, useSession } from '../../adapters/react/index.ts';
