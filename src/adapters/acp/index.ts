/** The Agent Client Protocol: other people's agents driven as sessions, our agents served to editors. */
export type { AcpCommand, AcpPipe } from './child.ts';
export type { AcpFiles } from './client.ts';
export type { AcpOpening, AcpServer, AcpTransport, ServeAcpOptions } from './serve.ts';
export { serveAcp } from './serve.ts';
export type { FromAcpOptions } from './source.ts';
export { fromAcp } from './source.ts';
