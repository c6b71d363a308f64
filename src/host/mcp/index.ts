/** Agents of a host as MCP tools. */
export type { McpHttp, McpHttpOptions, McpListener, McpServeOptions } from './http/http.ts';
export { createMcpHttp, serveMcpHttp } from './http/http.ts';
export { createMcpFactory } from './server/server.ts';
export type { McpStdioOptions, McpStdioServer } from './server/stdio.ts';
export { claimStdout, serveMcpStdio } from './server/stdio.ts';
export type { McpOptions, OpenQuestion } from './turn/options.ts';
