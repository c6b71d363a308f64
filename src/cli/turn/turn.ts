import type { AgentSession, KnownEndReason, SessionInput } from '../../contracts/index.ts';
import type { Interrupts, Screen } from '../terminal/index.ts';
import { clean, EXIT, errorLine, paint } from '../terminal/index.ts';
import type { View } from '../view/index.ts';
import { JsonView, TextView } from '../view/index.ts';
import type { ModuleHost, RunFlags } from '../workspace/index.ts';
import { commandLine, hostOptions, limitsFromFlags, openQuestionLines, openRequestLines } from '../workspace/index.ts';
import type { StreamOutcome } from './drive.ts';
import { drive } from './drive.ts';
import type { OutputCheck } from './output-schema.ts';

/** What turns of one command have in common. */
export interface TurnFrame {
  /** Path of the agent module, for hints. */
  path: string;
  flags: RunFlags;
  work: ModuleHost;
  screen: Screen;
  interrupts: Interrupts;
  view: View;
  check?: OutputCheck | undefined;
  /** Somebody talks to it: hints name commands of the conversation. */
  isChat?: boolean;
}

export function viewOf(flags: RunFlags, screen: Screen): View {
  if (flags.streamJson) return new JsonView({ all: true });
  return flags.json ? new JsonView({ all: false }) : new TextView(screen);
}

/** Runs one stream, says on stderr what a person should know of its end; returns the exit code. */
export async function runStreamOnScreen(
  frame: TurnFrame,
  session: AgentSession,
  input: string | SessionInput,
): Promise<number> {
  const { flags, view, interrupts, screen } = frame;
  let outcome: StreamOutcome;
  try {
    screen.spin('thinking');
    const { model } = frame.work;
    const limits = limitsFromFlags(flags);
    outcome = await drive(session, input, { view, interrupts, limits, model, streaming: !flags.json });
  } finally {
    await frame.work.asksNoMore();
    screen.still();
    screen.endWords();
  }
  const misfit = outcome.reason === 'completed' ? frame.check?.(outcome) : undefined;
  for (const line of endLines(frame, session.id, outcome)) screen.line(line);
  if (misfit) screen.line(`coxswain: ${errorLine(misfit)}`);
  return misfit ? EXIT.failed : outcome.code;
}

function endLines(frame: TurnFrame, sessionId: string, outcome: StreamOutcome): string[] {
  const { flags, path, work } = frame;
  const { reason, code, denied, pending, error } = outcome;
  const lines: string[] = [];
  // The text view has shown it where it happened.
  if (error && (flags.json || flags.streamJson)) lines.push(`coxswain: ${error.code} ${clean(error.message)}`);
  if (code === EXIT.inputRequired) {
    return [...lines, ...(frame.isChat ? openQuestionLines(pending) : openRequestLines(pending, path, flags))];
  }
  if (denied.length > 0) lines.push(`coxswain: denied: ${denied.map(clean).join(', ')}${whyDenied(frame)}`);
  if (outcome.truncated) lines.push("coxswain: the answer was cut at the model's output limit");
  if (reason === 'completed') return lines;
  if (!error) lines.push(`coxswain: ${endedAs(reason)}`);
  if (frame.isChat && reason !== 'refusal') lines.push(paint('dim', '  /continue resumes it'));
  else if (work.store.durable && reason !== 'refusal') {
    const line = commandLine(['run', path], { session: sessionId, ...hostOptions(flags) });
    lines.push(paint('dim', `  resume   ${line}`));
  }
  return lines;
}

const ended: Readonly<Record<Exclude<KnownEndReason, 'completed' | 'input_required'>, string>> = {
  aborted: 'aborted',
  failed: 'the turn failed',
  refusal: 'the model refused',
  max_turns: 'stopped at the limit of steps',
  max_budget: 'stopped at the limit of tokens or money',
  max_time: 'stopped at the limit of time',
};

function endedAs(reason: string): string {
  return Object.hasOwn(ended, reason) ? ended[reason as keyof typeof ended] : `the turn ended: ${clean(reason)}`;
}

function whyDenied({ flags, work }: TurnFrame): string {
  if (work.asks || work.store.durable || flags.approve !== 'ask') return '';
  return ' (there is no terminal to ask at, and memory: keeps no question; use a durable store or --approve allow)';
}
