import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { McpListener } from '../../host/mcp/index.ts';
import type { AgentServer, ServeOptions } from '../../host/websocket/index.ts';
import { isLoopback, serve } from '../../host/websocket/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { clean, EXIT, Screen, usageError } from '../terminal/index.ts';
import type { HostFlags, ModuleHost } from '../workspace/index.ts';
import { BusLag, closeQuietly, dataFolder, openModuleHost, openNodes } from '../workspace/index.ts';
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
      ceiling: { ...(flags.mode === undefined ? {} : { permissionMode: flags.mode }) },
      ...(people ? { authenticate: ({ token }) => (token === undefined ? undefined : people.get(digest(token))) } : {}),
      ...(flags.allowOrigin ? { allowedOrigins: flags.allowOrigin } : {}),
      ...(flags.allowHost ? { allowedHosts: flags.allowHost } : {}),
      ...(flags.http ? { http: true } : {}),
      figures: figures.read,
      ...(flags.ui ? { ui: { key: pageKey() } } : {}),
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
  people: Map<string, Principal> | undefined,
): Promise<McpListener> {
  const { serveMcpBeside } = await import('./serve-mcp.ts');
  const isOwn = (token: string) => server.token !== undefined && isSame(token, server.token);
  const who = (token: string) => people?.get(digest(token)) ?? (isOwn(token) ? { id: flags.user } : undefined);
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

const digest = (token: string) => createHash('sha256').update(token).digest('hex');

/** Digests of tokens, and whose they are. @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` */
function readPeople(file: string): Map<string, Principal> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // A syntax error would quote the file.
    const why = error instanceof SyntaxError ? 'it is no JSON' : messageOf(error);
    throw usageError(`--people: ${file} cannot be read (${why})`);
  }
  const people = new Map<string, Principal>();
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  for (const [index, entry] of list.entries()) {
    const { token, tokenSha256, id, roles } = (entry ?? {}) as Record<string, unknown>;
    const rolesFit = roles === undefined || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'));
    const known = digestOf(token, tokenSha256);
    if (known === undefined || typeof id !== 'string' || id === '' || !rolesFit) {
      throw usageError(
        `--people: entry ${index} of ${file} needs {"token": 16 characters or more, or "tokenSha256": 64 hex digits; "id", "roles"?: […]}`,
      );
    }
    people.set(known, { id, ...(roles === undefined ? {} : { roles: roles as string[] }) });
  }
  if (list.some((entry) => Object(entry).token !== undefined)) warnOfReaders(file);
  if (people.size === 0) throw usageError(`--people: ${file} names nobody; it is [{"token": "…", "id": "…"}]`);
  return people;
}

/** Access rights of POSIX: on Windows they say nothing. */
function warnOfReaders(file: string): void {
  if (process.platform === 'win32') return;
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  const message = `${file} holds tokens and others can read it (mode ${mode.toString(8)}): chmod 600 ${file}, or write tokenSha256 in place of token`;
  process.stderr.write(`${clean(JSON.stringify({ time: new Date().toISOString(), event: 'warning', message }))}\n`);
}

/** A file that others may read can hold the digest alone. */
function digestOf(token: unknown, tokenSha256: unknown): string | undefined {
  if (tokenSha256 === undefined) return typeof token === 'string' && token.length >= 16 ? digest(token) : undefined;
  const isDigest = typeof tokenSha256 === 'string' && /^[0-9a-f]{64}$/i.test(tokenSha256);
  return isDigest && token === undefined ? tokenSha256.toLowerCase() : undefined;
}
