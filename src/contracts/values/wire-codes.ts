/** Close codes. 1xxx and 44xx: come back; 45xx: do not. */
export const CLOSE_CODES = {
  goingAway: 1001,
  tooLarge: 1009,
  internal: 1011,
  unauthenticated: 4401,
  initTimeout: 4408,
  controlLost: 4410,
  slow: 4429,
  badFrame: 4500,
  forbidden: 4503,
  version: 4506,
} as const;

/** JSON-RPC error numbers; every other failure is `server` with the typed error in `data`. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  server: -32000,
} as const;
