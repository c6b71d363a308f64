import type { Principal } from '../../contracts/index.ts';
import type { McpListener } from '../../host/mcp/index.ts';
import type { HostFlags, ModuleHost } from '../workspace/index.ts';
import { settleAt, stateKey } from './mcp.ts';

export interface ServeMcpOptions {
  work: ModuleHost;
  /** The agent module, for the command that settles a question. */
  path: string;
  flags: HostFlags & { listen: string; allowOrigin?: string[]; allowHost?: string[] };
  port: number;
  version: string;
  /** Whose token it is. */
  who(token: string): Principal | undefined;
}

/** `coxswain serve --mcp`: the same agent, to MCP clients over HTTP, for the same people. */
export async function serveMcpBeside({ work, path, flags, port, version, who }: ServeMcpOptions): Promise<McpListener> {
  const { serveMcpHttp } = await import('../../host/mcp/index.ts');
  const { store } = work;
  return serveMcpHttp(work.host, {
    port,
    hostname: flags.listen,
    version,
    authenticate(request) {
      const token = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
      return token === undefined ? undefined : who(token);
    },
    ...(flags.allowHost ? { allowedHosts: flags.allowHost } : {}),
    ...(flags.allowOrigin ? { allowedOrigins: flags.allowOrigin } : {}),
    unanswerable: store.durable ? 'park' : 'deny',
    ...(store.durable ? { stateKey: stateKey(flags.store) } : {}),
    settleAt: (question) => settleAt(question, path, flags),
    warn: work.warn,
  });
}
