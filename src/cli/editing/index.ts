/** The line that a person edits, and its history. */
export { Editor } from './editor.ts';
export { History } from './history.ts';
export { readLine } from './read-line.ts';
