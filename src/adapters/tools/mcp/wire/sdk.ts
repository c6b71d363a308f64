/** The client of the MCP SDK: loaded with the first connection. */
export type Sdk = typeof import('@modelcontextprotocol/client');
