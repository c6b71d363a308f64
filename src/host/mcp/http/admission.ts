import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Principal } from '../../../contracts/index.ts';
import { faultOfPrincipal } from '../../terms/index.ts';
import { authInfoOf } from '../server/index.ts';
import type { loadServerSdk, McpHttpOptions } from '../turn/index.ts';
import { hostNames, pagesOf } from '../turn/index.ts';
import { refusedResponse } from './refusal.ts';

export type Admission = { refused: Response } | { authInfo: AuthInfo | undefined };

/**
 * Who may come in, by the head of a request alone: where it is addressed to, which page it comes from, who it is.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for names that are none
 */
export function admissionOf(
  { authenticate, allowedHosts, allowedOrigins }: McpHttpOptions,
  sdk: Awaited<ReturnType<typeof loadServerSdk>>,
  warn: (message: string, error?: unknown) => void,
): (request: Request) => Promise<Admission> {
  const hosts = hostNames('allowedHosts', allowedHosts ?? sdk.localhostAllowedHostnames());
  const pages = pagesOf('allowedOrigins', allowedOrigins ?? sdk.localhostAllowedOrigins());
  const internal = () => ({ refused: refusedResponse(500, -32_603, 'Internal error') });
  return async (request) => {
    const isKnownPage = pages.origins.has(request.headers.get('origin') ?? '');
    const foreign =
      sdk.hostHeaderValidationResponse(request, hosts) ??
      (isKnownPage ? undefined : sdk.originValidationResponse(request, pages.names));
    if (foreign) return { refused: foreign };
    let principal: Principal | undefined;
    try {
      principal = await authenticate?.(request);
    } catch (error) {
      warn('an MCP client could not be authenticated', error);
      return internal();
    }
    const fault = principal ? faultOfPrincipal(principal) : undefined;
    if (fault !== undefined) {
      warn(`authenticate gave ${fault}; nobody was let in`);
      return internal();
    }
    if (authenticate && !principal) {
      return { refused: refusedResponse(401, -32_000, 'Unauthorized', { 'WWW-Authenticate': 'Bearer' }) };
    }
    return { authInfo: principal && authInfoOf(principal) };
  };
}
