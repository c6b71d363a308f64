/**
 * Sessions for user interfaces of the AI SDK: `useChat` over a handler of your own.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { UiMessage, UiMessageChunk, UiRequest } from '../session/ui/index.ts';
export { fromUiMessages, toUiMessageStream, toUiMessages } from '../session/ui/index.ts';
