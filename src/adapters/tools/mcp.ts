/** Tools of MCP servers, for agents and hosts. */
export { loadMcpServers, readMcpServers } from './mcp-config.ts';
export type { McpCommand, McpQuestion, McpReply, McpServer, McpToolsetOptions, McpUrl } from './mcp-options.ts';
export type { McpToolset } from './mcp-toolset.ts';
export { mcpToolset } from './mcp-toolset.ts';
