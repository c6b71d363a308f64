/** The connection to an MCP server, and what it may send. */
export { loadSdk, McpConnection } from './connection.ts';
export { Idle } from './idle.ts';
export { namedTwice } from './listed.ts';
export { dropNulls } from './nulls.ts';
export type { McpCommand, McpQuestion, McpReply, McpServer, McpToolsetOptions, McpUrl } from './options.ts';
export { isForgotten, outcomeOf } from './outcome.ts';
export type { Sdk } from './sdk.ts';
export { checkServer, faultOf } from './secrets.ts';
