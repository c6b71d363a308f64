import { isObject } from '../../../../base/index.ts';

export type Members = Record<string, unknown>;

/** Of the protocol's versions, which are dates. */
export const isBefore2026 = (version = ''): boolean => version < '2026';

/** Many serializers write null for what is not there. */
export function dropNulls(members: Members): void {
  for (const [name, value] of Object.entries(members)) if (value === null) delete members[name];
}

export function dropNullsWithin(value: unknown): void {
  if (!isObject(value)) return;
  dropNulls(value);
  for (const member of Object.values(value)) dropNullsWithin(member);
}
