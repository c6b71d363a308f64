/** Our agents, served to an editor. */
export type { AcpOpening, AcpServer, AcpTransport, ServeAcpOptions } from './serve.ts';
export { serveAcp } from './serve.ts';
