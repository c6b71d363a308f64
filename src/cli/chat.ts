import type { AgentSession } from '../contracts/index.ts';
import { errorLine } from './errors.ts';
import { EXIT } from './exit-code.ts';
import { readLine } from './keyboard.ts';
import { paint } from './text.ts';
import type { TurnFrame } from './turn.ts';
import { runTurn } from './turn.ts';

/** A conversation at the terminal: a message a line, until Ctrl-D. */
export async function chat(frame: TurnFrame, session: () => Promise<AgentSession>): Promise<number> {
  const { screen, work } = frame;
  screen.line(paint('dim', `talking to ${work.agent}: a message a line, Ctrl-C stops a turn, Ctrl-D leaves`));
  const history: string[] = [];
  let code: number = EXIT.done;
  for (;;) {
    const line = await readLine('> ', { history });
    if (line === 'interrupted') return EXIT.aborted;
    if (line === undefined) {
      screen.now('\n');
      return code === EXIT.inputRequired ? code : EXIT.done;
    }
    const text = line.text.trim();
    if (text === '') continue;
    if (text === 'exit' || text === '/exit') return code === EXIT.inputRequired ? code : EXIT.done;
    try {
      code = await runTurn(frame, await session(), text);
    } catch (error) {
      // A refused message is no reason to end a conversation.
      screen.line(`coxswain: ${errorLine(error)}`);
      code = EXIT.failed;
    }
  }
}
