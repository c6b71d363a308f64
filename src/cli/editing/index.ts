/** The line that a person edits, and its history. */
export { Editor } from './editor.ts';
export { LineHistory } from './history.ts';
export { readLine } from './read-line.ts';
