import { onTestFinished } from 'vitest';
import type { RemoteHost } from '../../src/adapters/remote/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import type { ConnectOptions } from '../../src/adapters/remote/options.ts';
import type { AgentEvent, AgentSession, Principal } from '../../src/contracts/index.ts';
import type { AgentServer, ServeOptions, ServerOptions } from '../../src/host/websocket/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import type { AgentHost } from '../../src/index.ts';

/** People whose token is their name and roles: `anna:billing,ops`. */
export function byName({ token }: { token?: string }): Principal | undefined {
  const [id, roles] = (token ?? '').split(':');
  if (!id || id === 'wrong') return undefined;
  return { id, ...(roles ? { roles: roles.split(',') } : {}) };
}

/** Serves a host for the length of a test. */
export async function serving(
  host: AgentHost,
  options: ServeOptions & { ceiling?: ServerOptions } = {},
): Promise<AgentServer> {
  const server = await serve(host, { authenticate: byName, ...options });
  onTestFinished(async () => {
    await server.close({ deadlineMs: 0 });
    await host.close();
  });
  return server;
}

/** A client for the length of a test. */
export async function client(
  server: Pick<AgentServer, 'url'>,
  token = 'anna',
  options: ConnectOptions = {},
): Promise<RemoteHost> {
  const remote = await connect(server.url, { token, minBackoffMs: 1, maxBackoffMs: 20, ...options });
  onTestFinished(() => remote.close());
  return remote;
}

/** All events of a stream. */
export async function all(stream: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The stored events of a session. */
export function logOf(session: AgentSession): Promise<AgentEvent[]> {
  return all(session.events());
}

export const idsOf = (events: readonly AgentEvent[]): string[] => events.map(({ id }) => id);
export const durable = (events: readonly AgentEvent[]): AgentEvent[] =>
  events.filter(({ cursor }) => cursor !== undefined);

/** A number of the server's metrics. */
export async function metric({ url }: Pick<AgentServer, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(url.replace('ws', 'http').replace('/v1', '/metrics'))).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}
