import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, resolve, sep } from 'node:path';
import { parseEnv } from 'node:util';
import { CoxswainError, messageOf } from '../../../../contracts/index.ts';
import { bag } from '../../../../session/index.ts';
import type { McpServer, McpToolsetOptions } from '../wire/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
type Own = Pick<
  McpToolsetOptions,
  'prefix' | 'include' | 'optional' | 'protocol' | 'readResources' | 'connectMs' | 'listMs' | 'retryMs' | 'idleMs'
>;

/** What an entry may say; of the rest it is told that it has no effect. */
export const known: ReadonlySet<string> = new Set([
  ...['type', 'command', 'args', 'env', 'envFile', 'cwd', 'url', 'httpUrl', 'headers', 'disabled', 'enabled'],
  ...['prefix', 'optional', 'protocol', 'readResources', 'connectMs', 'listMs', 'retryMs', 'idleMs'],
  ...['includeTools', 'excludeTools', 'disabledTools'],
]);

const types = ['stdio', 'http', 'streamable-http', 'streamableHttp'];
const older = ['sse', 'ws', 'websocket'];

/** @throws CoxswainError `INVALID_ARGUMENT / E_MCP_CONFIG` */
export function serverOf(at: string, entry: Record<string, unknown>, env: Environment): McpServer {
  const { type, command, httpUrl, cwd } = entry;
  const url = httpUrl ?? entry.url;
  if (typeof type === 'string' && older.includes(type)) {
    throw fault(`${at}.type: it is an older transport, which is not supported; use its http address`);
  }
  if (type !== undefined && (typeof type !== 'string' || !types.includes(type))) {
    throw fault(`${at}.type can be stdio or http`);
  }
  const isHttp = type === undefined ? undefined : type !== 'stdio';
  if (typeof command === 'string' && url === undefined && isHttp !== true) {
    if (cwd !== undefined && typeof cwd !== 'string') throw fault(`${at}.cwd is no string`);
    const folder = cwd === undefined ? undefined : textOf(cwd, env, `${at}.cwd`);
    return {
      command: textOf(command, env, `${at}.command`),
      args: listOf(entry.args, `${at}.args`).map((arg, n) => textOf(arg, env, `${at}.args[${n}]`)),
      env: { ...envOfFile(entry.envFile, env, `${at}.envFile`), ...textsOf(entry.env, env, `${at}.env`) },
      ...(folder === undefined ? {} : { cwd: folder }),
    };
  }
  if (typeof url === 'string' && command === undefined && isHttp !== false) {
    return { url: textOf(url, env, `${at}.url`), headers: textsOf(entry.headers, env, `${at}.headers`) };
  }
  throw fault(`${at} needs either a "command" or a "url", and the one that its type says`);
}

/** What an entry says of its toolset, before what is said of all. */
export function ownOptions(at: string, entry: Record<string, unknown>, include: McpToolsetOptions['include']): Own {
  const { prefix, optional, protocol, readResources, connectMs, listMs, retryMs, idleMs } = entry;
  if (prefix !== undefined && typeof prefix !== 'string') throw fault(`${at}.prefix is no string`);
  for (const [name, value] of Object.entries({ optional, readResources })) {
    if (value !== undefined && typeof value !== 'boolean') throw fault(`${at}.${name} is neither true nor false`);
  }
  for (const [name, value] of Object.entries({ connectMs, listMs, retryMs, idleMs })) {
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      throw fault(`${at}.${name} is no number above 0`);
  }
  if (protocol !== undefined && protocol !== 'auto' && protocol !== 'legacy') {
    throw fault(`${at}.protocol can be auto or legacy`);
  }
  const given = { prefix, optional, protocol, readResources, connectMs, listMs, retryMs, idleMs };
  const there = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Own;
  const taken = choiceOf(at, entry, include);
  return { ...there, ...(taken ? { include: taken } : {}) };
}

/** Tools that a file keeps out stay out: they are named one way or the other by every editor. */
function choiceOf(
  at: string,
  { includeTools, excludeTools, disabledTools }: Record<string, unknown>,
  include: McpToolsetOptions['include'],
): McpToolsetOptions['include'] {
  const namesIn = (value: unknown, member: string) =>
    // Some are written with a pattern of arguments, `run(git status)`: that is for policies.
    listOf(value, `${at}.${member}`).map((name) => String(name).replace(/\(.*$/, ''));
  const only = includeTools === undefined ? undefined : new Set(namesIn(includeTools, 'includeTools'));
  const out = new Set([...namesIn(excludeTools, 'excludeTools'), ...namesIn(disabledTools, 'disabledTools')]);
  if (!only && out.size === 0) return include;
  return (tool) => (only?.has(tool) ?? true) && !out.has(tool) && (include?.(tool) ?? true);
}

export function isDisabled(at: string, { disabled = false, enabled = true }: Record<string, unknown>): boolean {
  for (const [name, value] of Object.entries({ disabled, enabled })) {
    if (typeof value !== 'boolean') throw fault(`${at}.${name} is neither true nor false`);
  }
  return disabled === true || enabled === false;
}

function envOfFile(file: unknown, env: Environment, at: string): Record<string, string> {
  if (file === undefined) return {};
  const path = resolve(textOf(file, env, at));
  try {
    return { ...parseEnv(readFileSync(path, 'utf8')) } as Record<string, string>;
  } catch (error) {
    throw fault(`${at}: ${path} cannot be read: ${messageOf(error)}`);
  }
}

function textsOf(value: unknown, env: Environment, at: string): Record<string, string> {
  if (value === undefined) return {};
  const members = Object.entries(configMembers(value, at)).filter(([, text]) => text !== null);
  return Object.fromEntries(members.map(([key, text]) => [key, textOf(text, env, `${at}.${key}`)]));
}

/** A number or a flag is what it is written as. */
function textOf(value: unknown, env: Environment, at: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw fault(`${at} is no string`);
  return expand(value, env, at);
}

function listOf(value: unknown, at: string): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => ['string', 'number', 'boolean'].includes(typeof item)))
    return value;
  throw fault(`${at} is no list of strings`);
}

/** `${NAME}`, `${NAME:-default}`, `${env:NAME}`, and `$NAME` where that is a word of its own and there is such a variable. */
function expand(text: string, env: Environment, at: string): string {
  const whole = text.replaceAll(
    /\$\{(?:(\w+):)?([\w/]+)(?::-([^}]*))?\}/g,
    (_, kind: string | undefined, name: string, otherwise?: string) => {
      if (kind !== undefined && kind !== 'env') {
        throw fault(`${at}: it asks for ${kind} ${name}, which is not there; set a variable, and write \${NAME}`);
      }
      const value = env[name] ?? (kind === undefined ? ofWorkspace()[name] : undefined) ?? otherwise;
      if (value === undefined)
        throw fault(`${at}: the variable ${name} is not set; set it, or write \${${name}:-default}`);
      return value;
    },
  );
  return whole.replaceAll(/(?<=^|\s)\$([A-Z_][A-Z\d_]*)(?=\s|$)/g, (word, name: string) => env[name] ?? word);
}

/** What editors fill in by themselves. */
const ofWorkspace = (): Environment => ({
  workspaceFolder: process.cwd(),
  workspaceFolderBasename: basename(process.cwd()),
  userHome: homedir(),
  pathSeparator: sep,
  '/': sep,
});

export function configMembers(value: unknown, at: string): Record<string, unknown> {
  if (bag.fits(value)) return value as Record<string, unknown>;
  throw fault(`${at} is no object`);
}

export function fault(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_MCP_CONFIG', `MCP servers: ${message}`);
}
