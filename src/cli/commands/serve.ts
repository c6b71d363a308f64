import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifySession } from '../../adapters/audit/index.ts';
import { rewind } from '../../adapters/stores/common/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { McpListener } from '../../host/mcp/index.ts';
import type { AgentServer, ServeOptions } from '../../host/websocket/index.ts';
import { isLoopback, serve, traceUrl } from '../../host/websocket/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { clean, EXIT, Screen, usageError } from '../terminal/index.ts';
import type { HostFlags, ModuleHost } from '../workspace/index.ts';
import { BusLag, closeQuietly, dataFolder, openModuleHost, openNodes } from '../workspace/index.ts';
import type { People } from './people.ts';
import { readPeople } from './people.ts';
import { ServeFigures } from './serve-figures.ts';

export interface ServeFlags extends HostFlags {
  port: number;
  listen: string;
  people?: string;
  allowOrigin?: string[];
  allowHost?: string[];
  /** Seconds. */
  deadline: number;
  /** Go on at the start with turns that nobody runs. */
  recover?: true;
  /** Shares turns with other nodes. */
  dispatcher?: string;
  dispatcherAddress?: string;
  dispatcherListen?: string;
  /** Tells other nodes at once. */
  bus?: string;
  /** Turns of the dispatcher at a time. */
  turns: number;
  /** Port for MCP clients. */
  mcp?: number;
  /** Plain HTTP and event streams beside the sockets. */
  http?: true;
  /** The inspector's page. */
  ui?: true;
  traceUrl?: string;
  /** Opens the page, unless this file is there; it is made. */
  openOnce?: string;
}

/** Milliseconds that a server waits for longer than runs have to leave it. */
const LEAVING_MS = 60_000;

/** `coxswain serve`: the agent for hosts, pages and people elsewhere, until it is interrupted. */
export async function serveCommand(
  path: string,
  flags: ServeFlags,
  version: string,
  interrupts: Interrupts,
): Promise<number> {
  const people = flags.people === undefined ? undefined : readPeople(flags.people);
  if (!people && !isLoopback(flags.listen)) {
    throw usageError(`--listen ${flags.listen} is reachable from elsewhere: say who may come with --people`);
  }
  if (flags.traceUrl !== undefined) {
    if (!flags.ui) throw usageError('--trace-url is for links in the page: give --ui too');
    if (!traceUrl.fits(flags.traceUrl))
      throw usageError(`--trace-url must be ${traceUrl.needs}, as https://traces.example/{traceId}`);
  }
  const screen = new Screen();
  const told = (message: string, error?: unknown) =>
    screen.line(`coxswain: warning: ${clean(message)}${error === undefined ? '' : ` (${clean(messageOf(error))})`}`);
  const nodes = await openNodes(flags, told);
  const work = await openModuleHost(path, flags, {
    screen,
    interrupts,
    asksElsewhere: true,
    asksWhileItRuns: true,
    nodes,
  }).catch(async (error: unknown) => {
    await nodes.close();
    throw error;
  });
  interrupts.outlive(work.warn);
  const { signal } = interrupts.start();
  const log = (entry: object) => screen.line(clean(JSON.stringify({ time: new Date().toISOString(), ...entry })));
  let tokenFile: string | undefined;
  const lag = nodes.bus && new BusLag(nodes.bus);
  const figures = new ServeFigures(work.host, lag);
  try {
    const server = await serve(work.host, {
      port: flags.port,
      host: flags.listen,
      principal: { id: flags.user },
      // Without people only this user of this machine can connect, who can read the store as it is.
      operator: people ? ({ id }) => people.operator(id) : () => ({ content: true }),
      verify: ({ userId, sessionId }) => verifySession(work.store.sessions, { app: flags.app, userId, id: sessionId }),
      rewind: ({ userId, sessionId }, through) =>
        rewind(work.store.sessions, { app: flags.app, userId, id: sessionId }, through),
      ceiling: { ...(flags.mode === undefined ? {} : { permissionMode: flags.mode }) },
      ...(people ? { authenticate: ({ token }) => (token === undefined ? undefined : people.of(token)) } : {}),
      ...(flags.allowOrigin ? { allowedOrigins: flags.allowOrigin } : {}),
      ...(flags.allowHost ? { allowedHosts: flags.allowHost } : {}),
      ...(flags.http ? { http: true } : {}),
      figures: figures.read,
      ...(flags.ui
        ? { ui: { key: pageKey(), ...(flags.traceUrl === undefined ? {} : { traceUrl: flags.traceUrl }) } }
        : {}),
      log,
      warn: (message, error) => work.warn(message, error),
    } satisfies ServeOptions & Parameters<typeof serve>[1]);
    tokenFile = keepToken(server);
    const mcp =
      flags.mcp === undefined ? undefined : await overMcp(path, flags, flags.mcp, version, work, server, people);
    // What starts this command waits for this line. The token itself is in no output.
    process.stdout.write(
      `${JSON.stringify({ event: 'listening', url: server.url, ...(flags.http ? { http: server.url.replace(/^ws/, 'http') } : {}), ...(flags.ui ? { ui: pageOf(server) } : {}), ...(mcp ? { mcp: mcp.url } : {}), ...(tokenFile === undefined ? {} : { tokenFile }) })}\n`,
    );
    if (flags.ui) await tellPage(server, screen, flags.openOnce);
    if (flags.recover) log({ event: 'recovering', sessions: (await work.host.recover()).sessions.length });
    const turns = nodes.dispatcher && (await work.host.work({ concurrency: flags.turns }));
    figures.turns = turns;
    if (turns) log({ event: 'working', turns: flags.turns });
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    log({ event: 'closing', deadlineSeconds: flags.deadline });
    await mcp?.close();
    const deadlineMs = flags.deadline * 1000;
    // Runs leave before the server would abort them; what has not left by then ends with this process, as one that
    // has died, and other nodes take it over.
    const closing = server.close({ deadlineMs: turns ? deadlineMs + LEAVING_MS : deadlineMs });
    const left = (await turns?.stop({ deadlineMs })) ?? 0;
    if (left > 0) {
      log({ event: 'left', turns: left });
      process.exit(EXIT.done);
    }
    await closing;
    log({ event: 'closed' });
    return EXIT.done;
  } finally {
    if (tokenFile !== undefined) rmSync(tokenFile, { force: true });
    interrupts.over();
    lag?.stop();
    await closeQuietly(work);
    await nodes.close();
  }
}

/** MCP clients bring the same tokens. */
async function overMcp(
  path: string,
  flags: ServeFlags,
  port: number,
  version: string,
  work: ModuleHost,
  server: AgentServer,
  people: People | undefined,
): Promise<McpListener> {
  const { serveMcpBeside } = await import('./serve-mcp.ts');
  const isOwn = (token: string) => server.token !== undefined && isSame(token, server.token);
  const who = (token: string) => people?.of(token) ?? (isOwn(token) ? { id: flags.user } : undefined);
  return serveMcpBeside({ work, path, flags, port, version, who });
}

/** In the same time, whatever differs. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

/** For whoever may read the files of this user, and nobody else. */
function keepToken(server: AgentServer): string | undefined {
  if (server.token === undefined) return undefined;
  const file = join(dataFolder(), `serve-${server.port}.token`);
  rmSync(file, { force: true });
  writeFileSync(file, server.token, { mode: 0o600, flag: 'wx' });
  return file;
}

const pageOf = ({ url }: AgentServer) => url.replace(/^ws/, 'http').replace(/\/v1$/, '/ui/');

/** The code is for whoever reads the terminal: a log gets none. */
async function tellPage(server: AgentServer, screen: Screen, openOnceFile: string | undefined): Promise<void> {
  const page = pageOf(server);
  if (openOnceFile !== undefined) {
    const { openOnce } = await import('./dev.ts');
    if (openOnce(openOnceFile, page, server.signInCode()))
      screen.line(`The inspector is opened in your browser: ${page}`);
    return;
  }
  const code = process.stderr.isTTY ? server.signInCode() : undefined;
  if (code !== undefined) screen.line(`Open ${page} and sign in with ${code} (once, within ten minutes).`);
}

/** The key of the page's cookies, for whoever may read the files of this user: whoever has signed in stays so over a restart. */
function pageKey(): Uint8Array {
  const file = join(dataFolder(), 'ui.key');
  try {
    writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = readFileSync(file);
  if (key.length !== 32) throw usageError(`${file} is no key of 32 bytes: remove it, and a new one is made`);
  return key;
}
