/** MCP servers named in a file. */
export { loadMcpServers, readMcpServers } from './config.ts';
