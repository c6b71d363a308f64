/** Calls that wait, as cards of MCP Apps. */
export { Cards } from './cards.ts';
