import type { HostedSession } from '../host/index.ts';
import { chat } from './chat.ts';
import { usage } from './errors.ts';
import { EXIT } from './exit-code.ts';
import type { RunFlags } from './flags.ts';
import type { Workplace } from './host.ts';
import { closeQuietly, openWorkplace } from './host.ts';
import { hasKeyboard } from './keyboard.ts';
import { outputCheck } from './output-schema.ts';
import { promptOf } from './prompt.ts';
import { Screen } from './screen.ts';
import type { TurnState } from './session-state.ts';
import { openSession } from './session-state.ts';
import type { Interrupts } from './signals.ts';
import { paint } from './text.ts';
import type { TurnFrame } from './turn.ts';
import { runTurn, viewOf } from './turn.ts';

export interface RunCommandFlags extends RunFlags {
  session?: string;
  outputSchema?: string;
}

/** `coxswain run`: one turn, a resumed one, or a conversation. Returns the exit code. */
export async function runCommand(
  path: string,
  words: readonly string[],
  flags: RunCommandFlags,
  interrupts: Interrupts,
): Promise<number> {
  if (flags.json && flags.streamJson) throw usage('--json and --stream-json exclude one another');
  const check = flags.outputSchema === undefined ? undefined : await outputCheck(flags.outputSchema);
  const prompt = await promptOf(words);
  const isChat = prompt === undefined && hasKeyboard() && !flags.json && !flags.streamJson && !check;
  if (prompt === undefined && flags.session === undefined && !isChat) {
    throw usage('there is no prompt: give it as an argument, pipe it in, or run without one at a terminal');
  }
  const screen = new Screen();
  const work = await openWorkplace(path, flags, { screen, interrupts, mayGoWithout: flags.session === undefined });
  const frame: TurnFrame = { path, flags, work, screen, interrupts, view: viewOf(flags, screen), check };
  try {
    let opened: { session: HostedSession; turn: TurnState } | undefined;
    const session = async () => {
      opened ??= await announce(work, screen, flags.session);
      return opened.session;
    };
    if (prompt !== undefined) return await runTurn(frame, await session(), prompt);
    if (flags.session !== undefined) {
      await session();
      const code = opened ? await resume(frame, opened) : EXIT.done;
      if (!isChat || code === EXIT.inputRequired) return code;
    }
    return await chat(frame, session);
  } finally {
    await closeQuietly(work);
  }
}

async function announce(work: Workplace, screen: Screen, id: string | undefined) {
  const opened = await openSession(work, id);
  work.session = opened.session;
  const fate = work.store.durable ? '' : ' (in memory: gone when this command ends)';
  screen.line(paint('dim', `session ${opened.session.id}${fate}`));
  return opened;
}

/** Goes on with whatever a session was in the midst of. */
async function resume(
  frame: TurnFrame,
  { session, turn }: { session: HostedSession; turn: TurnState },
): Promise<number> {
  const { screen } = frame;
  const open = await session.pending();
  if (turn === 'none' || (open.length === 0 && (turn === 'completed' || turn === 'refusal'))) {
    screen.line(`nothing to do: ${turn === 'none' ? 'nobody has said anything yet' : 'the last turn is complete'}`);
    return EXIT.done;
  }
  if (open.length > 0) screen.line(`${open.length === 1 ? 'one request is' : `${open.length} requests are`} open`);
  else if (turn === 'open') screen.line('going on with the turn that was cut off');
  else screen.line(`going on with the turn that ended: ${turn}`);
  return runTurn(frame, session, { kind: 'continue' });
}
