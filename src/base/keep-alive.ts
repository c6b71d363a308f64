/**
 * Milliseconds that a server keeps a connection over which nobody asks. Longer than the 60 seconds that proxies keep theirs
 * by default: of two ends that give up at once, the one that asks loses its request.
 */
export const KEEP_ALIVE_MS = 65_000;
