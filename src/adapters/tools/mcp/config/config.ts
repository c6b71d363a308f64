import { readFileSync } from 'node:fs';
import { warnOnStderr } from '../../../../base/index.ts';
import { copyJson, messageOf } from '../../../../contracts/index.ts';
import { bag, checkIs, guarded, name } from '../../../../session/index.ts';
import type { McpToolset } from '../toolset/index.ts';
import { mcpToolset } from '../toolset/index.ts';
import type { McpToolsetOptions } from '../wire/index.ts';
import { dropNulls, faultOf } from '../wire/index.ts';
import type { Environment } from './config-entry.ts';
import { configMembers, fault, isDisabled, known, ownOptions, serverOf } from './config-entry.ts';

/**
 * Toolsets of a configuration in the usual shape, `{"mcpServers": {"files": {"command": …, "args": […]}, "web":
 * {"url": …, "headers": {…}}}}`, or in that of VS Code (`servers`). `${NAME}`, `${NAME:-default}` and `${env:NAME}` are
 * taken from the environment; `disabled` servers are left out; `prefix` is put before the names of a server's tools. All
 * options go to each server, where its entry does not say otherwise. An entry that cannot be used is reported to `warn` and
 * left out, if others can be; members that have no effect are reported too.
 * @throws CoxswainError `INVALID_ARGUMENT / E_MCP_CONFIG`
 */
export function loadMcpServers(
  config: unknown,
  options: Omit<McpToolsetOptions, 'name'> & { env?: Environment } = {},
): McpToolset[] {
  checkIs(options, 'loadMcpServers: options', bag);
  const { env = process.env, ...rest } = options;
  const { warn = warnOnStderr } = rest;
  const { under, servers } = guarded('loadMcpServers: config', () => serversIn(config));
  const faults: unknown[] = [];
  const toolsets = Object.entries(configMembers(copyJson(servers, under), under)).flatMap(([name, entry]) => {
    const at = `${under}.${name}`;
    try {
      const members = configMembers(entry, at);
      dropNulls(members);
      if (isDisabled(at, members)) return [];
      const server = serverOf(at, members, env);
      const wrong = faultOf(server);
      if (wrong !== undefined) throw fault(`${at}.${wrong}`);
      const own = ownOptions(at, members, rest.include);
      const ignored = Object.keys(members).filter((member) => !known.has(member));
      if (ignored.length > 0) warn(`${at}: ${ignored.join(', ')} has no effect here`);
      return [mcpToolset({ ...server, ...rest, name, ...own })];
    } catch (error) {
      faults.push(error);
      return [];
    }
  });
  // One that is wrong beside good ones costs nobody the good ones; nothing but wrong ones is no configuration.
  if (toolsets.length === 0 && faults.length > 0) throw faults[0];
  for (const error of faults) warn(`a server is left out: ${messageOf(error)}`);
  return toolsets;
}

/** Whatever editor the file is of. */
function serversIn(config: unknown): { under: string; servers: unknown } {
  const { mcpServers, servers, mcp } = configMembers(config, 'it');
  if (mcpServers !== undefined && mcpServers !== null) return { under: 'mcpServers', servers: mcpServers };
  if (servers !== undefined && servers !== null) return { under: 'servers', servers };
  const within = bag.fits(mcp) ? (mcp as Record<string, unknown>).servers : undefined;
  if (within !== undefined && within !== null) return { under: 'mcp.servers', servers: within };
  throw fault('it has no member "mcpServers" (or "servers", as VS Code has it)');
}

/** {@link loadMcpServers} of a JSON file, with comments and trailing commas or without. */
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
    config = JSON.parse(plainJson(text.replace(/^\ufeff/, '')));
  } catch {
    // The parser's own words quote what it found.
    throw fault(`${file} is no JSON; it is to be {"mcpServers": {…}}`);
  }
  return loadMcpServers(config, options);
}

const comments = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const trailingCommas = /("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g;

/** Without what editors add to it; what is in texts stays. */
const plainJson = (text: string): string =>
  text.replaceAll(comments, (_, kept = ' ') => kept).replaceAll(trailingCommas, (_, kept = '') => kept);
