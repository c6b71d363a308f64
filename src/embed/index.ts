/** A host over agents of the runtime, in one program. */
export { createHost } from './create-host.ts';
