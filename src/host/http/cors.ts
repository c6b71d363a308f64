/** Whether pages of other origins may read answers, and with cookies. */
export type Cors = false | { credentials: boolean };

const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, last-event-id';
/** Seconds that a browser remembers what it may ask. */
const MAX_AGE = '600';

/** What lets a page of an origin that was let in read the answer. */
export function corsHeaders(cors: Cors, origin: string | undefined): Record<string, string> {
  if (cors === false) return {};
  // Caches must not give the answer for one page to another.
  if (origin === undefined) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'retry-after',
    ...(cors.credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  };
}

/** A browser asks whether a page may ask; without CORS nothing is said, and it may not. */
export function preflight(
  cors: Cors,
  origin: string | undefined,
  methods: readonly { readonly method: string }[],
): Response {
  const allow = methods.map(({ method }) => method).join(', ');
  if (cors === false || origin === undefined) return new Response(null, { status: 204, headers: { allow } });
  return new Response(null, {
    status: 204,
    headers: {
      allow,
      'access-control-allow-methods': allow,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': MAX_AGE,
    },
  });
}
