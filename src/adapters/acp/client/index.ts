/** Agents of others, driven as sessions. */
export type { AcpCommand, AcpPipe } from './child.ts';
export type { AcpFiles } from './client.ts';
export type { FromAcpOptions } from './source.ts';
export { fromAcp } from './source.ts';
