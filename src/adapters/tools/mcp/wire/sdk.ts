/** The client of the MCP SDK: loaded with the first connection. */
export type McpSdk = typeof import('@modelcontextprotocol/client');
