/** Questions to the person at the terminal, with previews and differences. */
export { Asker } from './ask.ts';
export { argsWidth, describedWidth, questionLines } from './preview.ts';
