/** A session on a connection: frames, replay, control. */
export { Attachment } from './attachment.ts';
export { BackPressure } from './back-pressure.ts';
export { Channel } from './channel.ts';
export type { Controller } from './control.ts';
export { eventsFrom, lastEvents, pageOf } from './event-pages.ts';
export type { FramePlace, FrameWriter } from './frames.ts';
export type { KeyedChange } from './key-book.ts';
export { KeyBook } from './key-book.ts';
export { StartPace } from './start-pace.ts';
