/** MCP over HTTP: sessions, admission, replay. */
export type { McpHttp, McpListener } from './http.ts';
export { createMcpHttp, serveMcpHttp } from './http.ts';
