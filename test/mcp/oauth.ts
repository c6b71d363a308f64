import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { Foreign } from './foreign.ts';
import { json, stopServer } from './raw-server.ts';

/** A server that asks to be signed in at, and the place to do so, in one; both are found by their metadata alone. */
export async function withSignIn() {
  const codes = new Set<string>();
  const seen: string[] = [];
  const handle = toNodeHandler(createMcpHandler(new Foreign().factory));
  const server = createServer((request, response) => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const url = new URL(request.url ?? '/', base);
    const bearer = request.headers.authorization === 'Bearer good';
    if (url.pathname === '/mcp' && bearer) return void handle(request as never, response);
    request.resume();
    seen.push(url.pathname);
    switch (url.pathname) {
      case '/mcp': {
        const challenge = `Bearer resource_metadata="${base}/meta/elsewhere"`;
        return void response.writeHead(401, { 'www-authenticate': challenge }).end();
      }
      case '/meta/elsewhere':
        return json(response, { resource: `${base}/mcp`, authorization_servers: [`${base}/as`] });
      case '/.well-known/oauth-authorization-server/as':
        return json(response, {
          issuer: `${base}/as`,
          authorization_endpoint: `${base}/as/authorize`,
          token_endpoint: `${base}/as/token`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/as/token':
        return json(response, { access_token: codes.size > 0 ? 'good' : 'bad', token_type: 'Bearer' });
      default:
        return void response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/mcp`,
    seen,
    /** What the browser comes back with once somebody has signed in. */
    signIn(): URLSearchParams {
      codes.add('code');
      return new URLSearchParams({ code: 'code', iss: `${base}/as` });
    },
    [Symbol.asyncDispose]: () => stopServer(server),
  };
}

/** Keeps what it is given, and notes where the browser is sent. */
export function signingIn(): OAuthClientProvider & { sentTo: URL[] } {
  const kept: { tokens?: never; verifier?: string } = {};
  const sentTo: URL[] = [];
  return {
    sentTo,
    redirectUrl: 'http://localhost:9/callback',
    clientMetadata: { redirect_uris: ['http://localhost:9/callback'] },
    clientInformation: () => ({ client_id: 'coxswain' }),
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens as never;
    },
    redirectToAuthorization: (url) => void sentTo.push(url),
    saveCodeVerifier(verifier) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
  };
}
