/** Tools of MCP servers, for agents and hosts. */
export { loadMcpServers, readMcpServers } from './mcp/config/config.ts';
export type { McpToolset } from './mcp/toolset/toolset.ts';
export { mcpToolset } from './mcp/toolset/toolset.ts';
export type { McpCommand, McpQuestion, McpReply, McpServer, McpToolsetOptions, McpUrl } from './mcp/wire/options.ts';
