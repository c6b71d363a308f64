/** Looks like the key of a provider, and is none: executors are handed it and must not show it. */
export const DECOY_KEY = 'sk-cx-decoy-5f2b9c';
