/** The terminal: keys, colours, signals, exit codes. */
export { confirm } from './confirm.ts';
export { errorLine, reportError, usageError } from './errors.ts';
export { EXIT, exitCodeOf } from './exit-code.ts';
export type { Focus } from './keyboard.ts';
export { hasKeyboard, keyboard } from './keyboard.ts';
export { Keys } from './keys.ts';
export { linesIn } from './lines.ts';
export { isOnOwnStdout, onOwnStdout } from './own-stdout.ts';
export type { Footer } from './screen.ts';
export { Screen } from './screen.ts';
export { Interrupts } from './signals.ts';
export { argsLine, clean, lineWidth, oneLine, paint } from './text.ts';
