import { createHash } from 'node:crypto';

export interface NameRules {
  /** What the provider takes as it is. */
  legal: RegExp;
  /** Characters. */
  maxLength: number;
  /** Put before an alias that would start with what a name may not start with. */
  start?: { legal: RegExp; prefix: string };
}

/** An alias ends like this, and no name that does is left as it is: so an alias never equals another tool's name. */
const aliasEnd = /_[0-9a-f]{10}$/;
const DIGITS = 10;

const known = new WeakMap<NameRules, Map<string, string>>();
const MAX_KNOWN = 10_000;

/**
 * The name under which a provider knows a tool: the tool's own if it is legal there, else a legal form of it and a
 * hash of the whole. It depends on the name alone, not on what else is registered or in which order, and two names
 * never share one.
 */
export function aliasOf(name: string, rules: NameRules): string {
  let aliases = known.get(rules);
  if (!aliases) {
    aliases = new Map();
    known.set(rules, aliases);
  }
  let alias = aliases.get(name);
  if (alias === undefined) {
    alias = makeAlias(name, rules);
    if (aliases.size < MAX_KNOWN) aliases.set(name, alias);
  }
  return alias;
}

function makeAlias(name: string, { legal, maxLength, start }: NameRules): string {
  if (name.length <= maxLength && legal.test(name) && !aliasEnd.test(name)) return name;
  let readable = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_');
  if (start && !start.legal.test(readable)) readable = start.prefix + readable;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, DIGITS);
  return `${readable.slice(0, maxLength - DIGITS - 1)}_${hash}`;
}
