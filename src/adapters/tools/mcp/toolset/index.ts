/** Tools of a server as tools of an agent. */
export type { McpToolset } from './toolset.ts';
export { mcpToolset } from './toolset.ts';
