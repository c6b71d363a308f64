/** Google's Agent Development Kit, from its own package, behind the contract. The adapter of the runtime here is `../adk`. */
export type { FromGoogleAdkOptions } from './source.ts';
export { fromGoogleAdk } from './source.ts';
export type { AdkAgent, AdkModule, AdkSessionService, AdkTool } from './types.ts';
