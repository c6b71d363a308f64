/** Tools of MCP servers, for agents and hosts. */
export { loadMcpServers, readMcpServers } from './mcp/config/index.ts';
export type { McpToolset } from './mcp/toolset/index.ts';
export { mcpToolset } from './mcp/toolset/index.ts';
export type { McpCommand, McpQuestion, McpReply, McpServer, McpToolsetOptions, McpUrl } from './mcp/wire/index.ts';
