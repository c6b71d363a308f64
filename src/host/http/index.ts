/** Requests of plain HTTP and event streams for sessions of a host: `spec/PROTOCOL.md`. */
export type { AuthenticationRequest } from '../connection/index.ts';
export type { Cors } from './cors.ts';
export type { FrontOptions } from './front.ts';
export { HttpFront } from './front.ts';
export { createHttp } from './http.ts';
export { checkBasePath } from './http-shape.ts';
export { openApiText } from './openapi.ts';
export type { HttpOptions } from './options.ts';
