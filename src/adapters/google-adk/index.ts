/** The real Agent Development Kit behind this package's contract. */
export type { FromGoogleAdkOptions } from './source.ts';
export { fromGoogleAdk } from './source.ts';
export type { AdkAgent, AdkModule, AdkSessionService, AdkTool } from './types.ts';
