/** A host over agents of the runtime, in one program. */
export { createHost, type EmbeddedHostOptions, type HostOf, type SessionOf } from './create-host.ts';
