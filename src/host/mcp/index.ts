/** Agents of a host as MCP tools. */
export type { McpHttp, McpHttpOptions, McpListener, McpServeOptions } from './http.ts';
export { createMcpHttp, serveMcpHttp } from './http.ts';
export type { McpOptions, OpenQuestion } from './options.ts';
export { createMcpFactory } from './server.ts';
export type { McpStdioOptions, McpStdioServer } from './stdio.ts';
export { claimStdout, serveMcpStdio } from './stdio.ts';
