import { hash } from 'node:crypto';
import { canonicalJson } from '../../contracts/index.ts';

/**
 * Fingerprint of a call: SHA-256 (hex) over the canonical JSON (RFC 8785) of `{tool, args}`, arguments as the model
 * gave them. `undefined` members are left out; `undefined` in lists, NaN and infinities are null.
 * @throws CoxswainError `INVALID_ARGUMENT / E_NOT_JSON | E_TOO_DEEP` for a BigInt, an instance, a cycle
 */
export function toolCallChecksum(tool: string, args: unknown): string {
  return hash('sha256', canonicalJson({ tool, args: finite(args, 0) }));
}

/** Deeper than any value that canonical JSON takes. */
const DEPTH = 1000;

function finite(value: unknown, depth: number): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null || depth > DEPTH) return value;
  if (Array.isArray(value)) return Array.from(value, (item) => finite(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, finite(member, depth + 1)] as const);
  // `fromEntries` defines, so that `__proto__` stays a member.
  return Object.fromEntries(entries);
}
