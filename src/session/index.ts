/** What works over any AgentSession, whoever implements it. */
export * from './input.ts';
export * from './pipe.ts';
export * from './queue.ts';
export * from './run.ts';
export * from './time.ts';
export * from './usage.ts';
export * from './view.ts';
