/** Agents that are called as tools, in sessions of their own. */
export { noSubagents } from './no-subagents.ts';
export { SubagentSession } from './subagent-session.ts';
export { Subagents } from './subagents.ts';
