import { request as httpRequest } from 'node:http';

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
export const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** With any Host header, which fetch does not allow. */
export function send(
  url: string,
  { method = 'POST', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; session: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = httpRequest(url, { method, headers: { accept, ...type, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const session = response.headers['mcp-session-id'];
        resolve({ status: response.statusCode ?? 0, session: session?.toString(), text });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** A session, as the headers that name it. */
export const opened = async (url: string, given: Record<string, string> = {}) => {
  const { session } = await send(url, { body: initialize, headers: given });
  return { 'mcp-session-id': session ?? 'none', 'mcp-protocol-version': '2025-06-18', ...given };
};
