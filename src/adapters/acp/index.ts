/** The Agent Client Protocol: other people's agents driven as sessions, our agents served to editors. */
export type { AcpCommand, AcpPipe } from './client/child.ts';
export type { AcpFiles } from './client/client.ts';
export type { FromAcpOptions } from './client/source.ts';
export { fromAcp } from './client/source.ts';
export type { AcpOpening, AcpServer, AcpTransport, ServeAcpOptions } from './server/serve.ts';
export { serveAcp } from './server/serve.ts';
