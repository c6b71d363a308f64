/** An executor as an agent of the runtime. */
export type { DispatchAgent, DispatchAgentOptions } from './dispatch-agent.ts';
export { dispatchAgent } from './dispatch-agent.ts';
