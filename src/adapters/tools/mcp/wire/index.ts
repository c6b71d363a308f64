/** The connection to an MCP server, and what it may send. */
export { loadMcpSdk, McpConnection } from './connection.ts';
export { Idle } from './idle.ts';
export { namedTwice } from './listed.ts';
export { dropNulls } from './nulls.ts';
export type { McpCommand, McpQuestion, McpReply, McpServer, McpToolsetOptions, McpUrl } from './options.ts';
export { errorTypeOfThrown, isForgotten, Silence } from './outcome.ts';
export type { McpSdk } from './sdk.ts';
export { checkServer, faultOf } from './secrets.ts';
