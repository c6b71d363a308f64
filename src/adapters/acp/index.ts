/** The Agent Client Protocol: other people's agents driven as sessions, our agents served to editors. */
export type { AcpCommand, AcpFiles, AcpPipe, FromAcpOptions } from './client/index.ts';
export { fromAcp } from './client/index.ts';
export type { AcpOpening, AcpServer, AcpTransport, ServeAcpOptions } from './server/index.ts';
export { serveAcp } from './server/index.ts';
