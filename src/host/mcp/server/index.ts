/** The MCP server, and stdio. */
export { authInfoOf, createMcpFactory, renewAuthInfo } from './server.ts';
export type { McpStdioServer } from './stdio.ts';
export { claimStdout, serveMcpStdio } from './stdio.ts';
