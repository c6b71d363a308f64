/** Queues that carry events to a consumer, and the words of a stream. */
export { AnswerWords } from './answer-words.ts';
export { joinedEvents } from './joined-events.ts';
export type { Joining } from './joining.ts';
export { LastWords } from './last-words.ts';
export { EventStream, StreamQueue } from './queue.ts';
export { StreamSummary } from './stream-summary.ts';
export { addUsage } from './usage.ts';
