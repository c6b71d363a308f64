/**
 * Tools of MCP servers, for agents and hosts, by `@modelcontextprotocol/client`.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { McpToolset } from '../../adapters/tools/mcp.ts';
export { loadMcpServers, mcpToolset, readMcpServers } from '../../adapters/tools/mcp.ts';
