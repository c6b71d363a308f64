// Sessions as user interfaces of the AI SDK show them: chunks, messages, and what a page asks for.
export { approvalIdOf, readApprovalId } from './approval-id.ts';
export { GrowingChars, MOST_KNOWN, mayGrow } from './bounds.ts';
export type { UiApproval, UiFinishReason, UiMessage, UiMessageChunk, UiMetadata, UiPart, UiToolPart } from './chunk.ts';
export { mayTheyAnswer } from './may-answer.ts';
export { notRewound, toUiMessages } from './ui-messages.ts';
export type { UiRequest } from './ui-request.ts';
export { fromUiMessages } from './ui-request.ts';
export { shownApproval, wordsOfPart } from './ui-shown.ts';
export { errorTextOf, toUiMessageStream } from './ui-stream.ts';
export type { UiQuestion, UiWriterOptions } from './ui-writer.ts';
export { UiWriter } from './ui-writer.ts';
