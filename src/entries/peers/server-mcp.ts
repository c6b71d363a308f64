/**
 * Serves agents of a host as MCP tools, by `@modelcontextprotocol/server`. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { McpHttp, McpListener, McpStdioServer } from '../../host/mcp/index.ts';
export { claimStdout, createMcpHttp, serveMcpHttp, serveMcpStdio } from '../../host/mcp/index.ts';
