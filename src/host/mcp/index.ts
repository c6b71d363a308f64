/** Agents of a host as MCP tools. */
export type { McpHttp, McpListener } from './http/index.ts';
export { createMcpHttp, serveMcpHttp } from './http/index.ts';
export type { McpStdioServer } from './server/index.ts';
export { claimStdout, createMcpFactory, serveMcpStdio } from './server/index.ts';
export type {
  McpHttpOptions,
  McpOptions,
  McpServeOptions,
  McpStdioOptions,
  McpTaskOptions,
  OpenQuestion,
  TaskSupport,
} from './turn/index.ts';
