/** What operators see of sessions of others. */
export type { SessionQuery, SessionState } from './operator.ts';
export { OperatorView } from './operator.ts';
export type { OperatorOf, OperatorScope } from './scope.ts';
