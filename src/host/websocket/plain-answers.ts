import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** An answer in plain text. */
export function plainText(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers });
  response.end(body);
}

/** What a server is and does, in the text form of Prometheus. Names that end with `_total` only grow. */
export function metricsText(figures: Readonly<Record<string, number>>): string {
  return Object.entries(figures)
    .map(([name, value]) => {
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      return `# TYPE coxswain_${name} ${type}\ncoxswain_${name} ${value}\n`;
    })
    .join('');
}

/** An upgrade that is refused. */
export function refuse(socket: Socket, status: number, reason: string): void {
  if (socket.destroyed) return;
  const body = `${reason}\n`;
  const names: Record<number, string> = {
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    429: 'Too Many Requests',
    503: 'Service Unavailable',
  };
  const extra = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${names[status] ?? 'Internal Server Error'}\r\n${extra}Connection: close\r\n` +
      `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
