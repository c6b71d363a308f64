/** A stream as text. */
export { recap } from './recap.ts';
export { TextView } from './text-view.ts';
export type { View } from './view.ts';
export { JsonView } from './view.ts';
