import type { AuthorizationAnswer, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';

/** Cedar, as its package gives it. */
export type CedarModule = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** What is needed of the engine. Its answers may be promises: it may run in another thread. */
export type CedarEngine = Pick<
  CedarModule,
  'policySetTextToParts' | 'policyToJson' | 'validate' | 'preparsePolicySet' | 'preparseSchema'
> & { statefulIsAuthorized(call: StatefulAuthorizationCall): AuthorizationAnswer | Promise<AuthorizationAnswer> };
