/** Shorter ones would blank out ordinary words. */
const MIN_SECRET = 6;
const HIDDEN = '***';

/** Members of a credential that say whose, where and of which kind it is: they may be told. */
const telling =
  /^(?:type|token_?type|scheme|kind|id|(?:client|key|user|account|tenant)_?id|user_?name|user|login|e?mail|account|tenant|name|host(?:name)?|url|uri|endpoint|region|realm|scopes?|audience|issuer|(?:expires|created|updated|issued)\w*)$/i;

/** The texts of a credential that nobody should see, in the forms that texts of errors and JSON have them. */
export function secretsIn(credential: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown, depth: number) => {
    if (typeof value === 'string') {
      if (value.length < MIN_SECRET) return;
      for (const form of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())])
        found.add(form);
    } else if (typeof value === 'object' && value !== null && depth < 8) {
      for (const [name, member] of Object.entries(value)) if (!telling.test(name)) look(member, depth + 1);
    }
  };
  look(credential, 0);
  return [...found];
}

/** A JSON value without any of the secrets; the value itself where there are none. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value;
  // A part of one may be another one.
  const longest = [...secrets].sort((a, b) => b.length - a.length);
  const hide = (text: string) => longest.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text);
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') return hide(item);
    if (Array.isArray(item)) return item.map(walk);
    if (typeof item !== 'object' || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([name, member]) => [hide(name), walk(member)]));
  };
  return walk(value) as T;
}
