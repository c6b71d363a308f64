/** Several models as one: who is asked first, and who instead. */
export type { FallbackOptions } from './fallback.ts';
export { checkFallback, fallbackModel } from './fallback.ts';
