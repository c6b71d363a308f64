/** An object of settings that knows nothing but data and functions. */
type Settings = Record<string, unknown>;

/**
 * Settings in three tiers, the later one first: constructor < `executor(overrides)` < the turn's stash. A setting
 * that is `undefined` says nothing; the members named in `mergedKeys` are merged key by key, all else is replaced.
 */
export function mergeTiers<T extends object>(
  mergedKeys: readonly (keyof T)[],
  ...tiers: (Partial<T> | undefined)[]
): Partial<T> {
  const merged: Settings = {};
  for (const tier of tiers) {
    for (const [key, value] of Object.entries(tier ?? {})) {
      if (value === undefined) continue;
      const before = merged[key];
      const isMerged = mergedKeys.includes(key as keyof T) && isSettings(before) && isSettings(value);
      merged[key] = isMerged ? mergeTiers<Settings>([], before, value) : value;
    }
  }
  return merged as Partial<T>;
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
