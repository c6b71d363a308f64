import { readFileSync } from 'node:fs';
import { CoxswainError, copyJson, messageOf } from '../../contracts/index.ts';
import { bag, checkIs, guarded, name } from '../../session/index.ts';
import type { McpServer, McpToolsetOptions } from './mcp-options.ts';
import { faultOf } from './mcp-secrets.ts';
import type { McpToolset } from './mcp-toolset.ts';
import { mcpToolset, warnOnStderr } from './mcp-toolset.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Toolsets of a configuration in the customary shape, `{"mcpServers": {"files": {"command": …, "args": […]}, "web":
 * {"url": …, "headers": {…}}}}`. `${NAME}`, `${NAME:-default}` and `${env:NAME}` are taken from the environment;
 * `disabled` servers are left out; `prefix` is put before the names of a server's tools. All options go to each server.
 * Other members are told to `warn` and have no effect.
 * @throws CoxswainError `INVALID_ARGUMENT / E_MCP_CONFIG`
 */
export function loadMcpServers(
  config: unknown,
  options: Omit<McpToolsetOptions, 'name'> & { env?: Environment } = {},
): McpToolset[] {
  checkIs(options, 'loadMcpServers: options', bag);
  const { env = process.env, ...rest } = options;
  const { warn = warnOnStderr } = rest;
  const servers = copyJson(
    guarded('loadMcpServers: config', () => membersOf(config, 'it')).mcpServers ?? null,
    'mcpServers',
  );
  if (servers === null) throw fault('it has no member "mcpServers"');
  return Object.entries(membersOf(servers, 'mcpServers')).flatMap(([name, entry]) => {
    const members = membersOf(entry, `mcpServers.${name}`);
    const { disabled } = members;
    if (disabled !== undefined && typeof disabled !== 'boolean') {
      throw fault(`mcpServers.${name}.disabled is neither true nor false`);
    }
    if (disabled) return [];
    const { prefix = rest.prefix } = members;
    if (prefix !== undefined && typeof prefix !== 'string') throw fault(`mcpServers.${name}.prefix is no string`);
    const server = serverOf(name, members, env);
    const wrong = faultOf(server);
    if (wrong !== undefined) throw fault(`mcpServers.${name}.${wrong}`);
    const ignored = Object.keys(members).filter((member) => !known.has(member));
    if (ignored.length > 0) warn(`mcpServers.${name}: ${ignored.join(', ')} has no effect here`);
    return [mcpToolset({ ...server, ...rest, name, ...(prefix === undefined ? {} : { prefix }) })];
  });
}

const known = new Set(['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'disabled', 'prefix']);

/** {@link loadMcpServers} of a JSON file. */
export function readMcpServers(file: string, options: Parameters<typeof loadMcpServers>[1] = {}): McpToolset[] {
  checkIs(file, 'readMcpServers: file', name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw fault(`${file} cannot be read: ${messageOf(error)}`);
  }
  let config: unknown;
  try {
    // Some editors put a mark at the start.
    config = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The parser's own words quote what it found.
    throw fault(`${file} is no JSON; it is to be {"mcpServers": {…}}`);
  }
  return loadMcpServers(config, options);
}

function serverOf(name: string, entry: Record<string, unknown>, env: Environment): McpServer {
  const at = `mcpServers.${name}`;
  const { type, command, args, url, cwd } = entry;
  if (
    type !== undefined &&
    (typeof type !== 'string' || !['stdio', 'http', 'streamable-http', 'streamableHttp'].includes(type))
  ) {
    throw fault(`${at}.type can be stdio or http`);
  }
  const isHttp = type === undefined ? undefined : type !== 'stdio';
  if (typeof command === 'string' && url === undefined && isHttp !== true) {
    if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === 'string'))) {
      throw fault(`${at}.args is no list of strings`);
    }
    if (cwd !== undefined && typeof cwd !== 'string') throw fault(`${at}.cwd is no string`);
    return {
      command: expand(command, env, `${at}.command`),
      args: ((args ?? []) as string[]).map((arg, n) => expand(arg, env, `${at}.args[${n}]`)),
      env: textsOf(entry.env, env, `${at}.env`),
      ...(cwd === undefined ? {} : { cwd: expand(cwd, env, `${at}.cwd`) }),
    };
  }
  if (typeof url === 'string' && command === undefined && isHttp !== false) {
    return { url: expand(url, env, `${at}.url`), headers: textsOf(entry.headers, env, `${at}.headers`) };
  }
  throw fault(`${at} needs either a "command" or a "url", and the one that its type says`);
}

function textsOf(value: unknown, env: Environment, at: string): Record<string, string> {
  if (value === undefined) return {};
  return Object.fromEntries(
    Object.entries(membersOf(value, at)).map(([key, text]) => {
      if (typeof text !== 'string') throw fault(`${at}.${key} is no string`);
      return [key, expand(text, env, `${at}.${key}`)];
    }),
  );
}

function expand(text: string, env: Environment, at: string): string {
  return text.replaceAll(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
    const value = env[name] ?? otherwise;
    if (value === undefined)
      throw fault(`${at}: the variable ${name} is not set; set it, or write \${${name}:-default}`);
    return value;
  });
}

function membersOf(value: unknown, at: string): Record<string, unknown> {
  if (bag.fits(value)) return value as Record<string, unknown>;
  throw fault(`${at} is no object`);
}

function fault(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_MCP_CONFIG', `MCP servers: ${message}`);
}
