import { join } from 'node:path';
import { Editor, LineHistory } from '../editing/index.ts';
import { confirm, EXIT, errorLine, paint } from '../terminal/index.ts';
import { dataFolder } from '../workspace/index.ts';
import { complete, runCommandLine } from './chat-commands.ts';
import type { Conversation } from './conversation.ts';
import type { TurnStanding } from './session-state.ts';

/** Presses of Ctrl-C at something that does not end, until the command is ended. */
const PATIENCE = 3;

/** A conversation at the terminal, until somebody leaves it. Returns the exit code. */
export async function chat(talk: Conversation, stored: TurnStanding | undefined): Promise<number> {
  const { screen, interrupts, work } = talk.frame;
  let presses = 0;
  const stop = () => {
    presses++;
    if (presses === 1 && interrupts.isRunning) interrupts.press('SIGINT');
    else if (presses >= PATIENCE) interrupts.press('SIGINT');
    else screen.line(paint('dim', 'it is being ended; Ctrl-C again and again ends the command at once'));
  };
  const farewell = () => {
    const line = talk.farewell();
    if (line !== undefined) screen.now(`${paint('dim', `come back: ${line}`)}\n`);
  };
  const history = new LineHistory(work.store.durable ? historyFile() : undefined);
  const editor = new Editor(screen, { history, completer: complete, stop });
  interrupts.beforeEnd(() => {
    editor.close();
    farewell();
  });
  try {
    if (stored !== undefined) await attempt(talk, () => talk.takeUp(stored));
    for (;;) {
      if (talk.code !== EXIT.done && talk.code !== EXIT.denied) editor.takeBack();
      const typed = await editor.next();
      presses = 0;
      if (typed === 'abort') return EXIT.aborted;
      if (typed === 'leave') return await leavingCode(talk);
      let next: 'leave' | undefined;
      await attempt(talk, async () => {
        next = await take(talk, typed.text.trim(), (text) => editor.putBack(text));
      });
      if (next === 'leave') return await leavingCode(talk);
    }
  } finally {
    interrupts.beforeEnd(undefined);
    editor.close();
    farewell();
  }
}

/** Undefined: the folder cannot be made, and a conversation can do without. */
function historyFile(): string | undefined {
  try {
    return join(dataFolder(), 'history');
  } catch {
    return undefined;
  }
}

/** What is refused is no reason to end a conversation. */
async function attempt(talk: Conversation, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    talk.frame.screen.line(`coxswain: ${errorLine(error)}`);
  }
}

async function leavingCode(talk: Conversation): Promise<number> {
  return (await talk.openQuestions()).length > 0 ? EXIT.inputRequired : EXIT.done;
}

async function take(talk: Conversation, text: string, putBack: (text: string) => void): Promise<'leave' | undefined> {
  if (text.startsWith('/')) return runCommandLine(talk, text);
  if (text === '?') return runCommandLine(talk, '/help');
  if (text === 'exit') return 'leave';
  const open = await talk.openQuestions();
  if (text === '') {
    if (open.length > 0) await talk.goOn();
    return undefined;
  }
  if (open.length > 0 && !(await mayCancel(talk, open.length))) {
    putBack(text);
    return undefined;
  }
  await talk.turn(text);
  return undefined;
}

/** A message opens the next turn, and nothing can be answered any more then. */
function mayCancel({ frame: { screen } }: Conversation, count: number): Promise<boolean> {
  const what =
    count === 1
      ? 'A question is open; the message cancels it.'
      : `${count} questions are open; the message cancels them.`;
  return confirm(screen, `${what} Send it?`, 'y send · n keep it in the line');
}
