// Sessions as clients of AG-UI show them: events, messages, interrupts, and what a run asks for.
export type { AgUiEvent } from './ag-ui-event.ts';
export { agUiMessages } from './ag-ui-messages.ts';
export type { AgUiRequest } from './ag-ui-request.ts';
export { readAgUi } from './ag-ui-request.ts';
export type { AgUiWriterOptions } from './ag-ui-writer.ts';
export { AgUiWriter } from './ag-ui-writer.ts';
export type { AgUiQuestion } from './interrupts.ts';
export { answerOfResume } from './interrupts.ts';
