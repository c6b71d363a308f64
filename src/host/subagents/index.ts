/** Agents that are called as tools, in sessions of their own. */
export { closedRequest } from './subagent-events.ts';
export { SubagentSession } from './subagent-session.ts';
export { Subagents } from './subagents.ts';
