const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

/**
 * The request with both types named that this server answers in, where its Accept takes both by the rules of HTTP: a
 * wildcard, or none at all, which takes anything. The transport looks for the names alone.
 */
export function withNamedTypes(request: Request): Request {
  const accept = request.headers.get('accept');
  if (accept?.includes(JSON_TYPE) && accept.includes(STREAM_TYPE)) return request;
  const wanted = request.method === 'GET' ? [STREAM_TYPE] : [JSON_TYPE, STREAM_TYPE];
  if (accept !== null && !wanted.every((type) => takes(accept, type))) return request;
  const headers = new Headers(request.headers);
  headers.set('accept', `${JSON_TYPE}, ${STREAM_TYPE}`);
  return new Request(request, { headers });
}

/** The most specific range that fits counts, and a weight of 0 refuses (RFC 9110, 12.5.1). */
function takes(accept: string, type: string): boolean {
  const [kind = ''] = type.split('/');
  const ranges = accept.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { name, isTaken: weight === undefined || Number(weight.slice(2)) > 0 };
  });
  const best = [type, `${kind}/*`, '*/*'].flatMap((name) => ranges.find((range) => range.name === name) ?? [])[0];
  return best?.isTaken ?? false;
}
