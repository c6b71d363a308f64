/** Gemini. */
export type { GeminiOptions } from './gemini.ts';
export { geminiModel } from './gemini.ts';
