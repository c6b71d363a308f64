import type { Interrupts } from '../terminal/index.ts';
import { clean, hasKeyboard, Screen, usageError } from '../terminal/index.ts';
import type { TurnFrame } from '../turn/index.ts';
import { Conversation, chat, greet, outputCheck, viewOf } from '../turn/index.ts';
import type { ModuleHost, RunFlags } from '../workspace/index.ts';
import { closeQuietly, commandName, openModuleHost, promptOf, quote } from '../workspace/index.ts';

export interface RunCommandFlags extends RunFlags {
  session?: string;
  continue?: true;
  demo?: true;
  outputSchema?: string;
}

/** `coxswain run`: one turn, a resumed one, or a conversation. Returns the exit code. */
export async function runCommand(
  path: string,
  words: readonly string[],
  flags: RunCommandFlags,
  interrupts: Interrupts,
): Promise<number> {
  if (flags.json && flags.streamJson) throw usageError('--json and --stream-json exclude one another');
  const check = flags.outputSchema === undefined ? undefined : await outputCheck(flags.outputSchema);
  if (flags.session !== undefined && flags.continue) throw usageError('--session and --continue exclude one another');
  const isStored = flags.session !== undefined || flags.continue === true;
  const given = await promptOf(words, { waits: !flags.demo });
  const isPlain = !flags.json && !flags.streamJson && !check;
  const isChat = given === undefined && hasKeyboard() && isPlain;
  const isDemo = given === undefined && !hasKeyboard() && !isStored && flags.demo === true;
  if (given === undefined && !isStored && !isChat && !isDemo) throw noPrompt(path);
  const screen = new Screen();
  const notes: string[] = [];
  const place = { screen, interrupts, mayGoWithout: !isStored, ...(isChat ? { notes } : {}) };
  const work = await openModuleHost(path, flags, place);
  const frame: TurnFrame = { path, flags, work, screen, interrupts, view: viewOf(flags, screen), check, isChat };
  const talk = new Conversation(frame);
  try {
    if (isChat) greet(work, flags, notes, screen);
    const prompt = isDemo ? demonstration(work, screen, path) : given;
    const turn = isStored ? await talk.openStored(flags.session) : undefined;
    if (isChat) return await chat(talk, turn);
    if (prompt !== undefined) await talk.turn(prompt);
    else await talk.goOn(turn);
    return talk.code;
  } finally {
    await closeQuietly(work);
  }
}

function noPrompt(path: string): Error {
  const example = `${commandName()} run ${quote(path)} "what to do"`;
  return usageError(
    `there is no prompt: give it as an argument (${example}), pipe it in, or run without one at a terminal`,
  );
}

/** What a module gives as an example, where nobody has said anything and nobody can. */
function demonstration({ module }: ModuleHost, screen: Screen, path: string): string {
  const [example] = module.examples ?? [];
  if (example === undefined) throw noPrompt(path);
  screen.line(`no prompt and no terminal: this runs an example, "${clean(example)}"`);
  return example;
}
