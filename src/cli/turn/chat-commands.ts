import type { ReportedRequest, RequestAnswer, Usage } from '../../contracts/index.ts';
import { costOf, PERMISSION_MODES } from '../../contracts/index.ts';
import { addUsage, nearest } from '../../session/index.ts';
import { argsWidth, questionLines } from '../questions/index.ts';
import { argsLine, clean, lineWidth, oneLine, paint, usageError } from '../terminal/index.ts';
import { comeBackLine, describeRequest, hostOptions, moduleTools } from '../workspace/index.ts';
import type { Conversation } from './conversation.ts';

/** What may be said to the conversation itself. */
export interface Command {
  readonly takes?: string;
  readonly about: string;
  /** Words that may come after its name, for completion. */
  readonly words?: readonly string[];
  /** `leave`: the conversation is over. */
  run(talk: Conversation, rest: string): Promise<'leave' | undefined> | Promise<void>;
}

const SESSIONS_SHOWN = 15;

export const commands: Readonly<Record<string, Command>> = {
  help: { about: 'this list', run: help },
  tools: { about: 'what the agent can do', run: tools },
  pending: { about: 'what waits for an answer, whole', run: pending },
  approve: { takes: '[n]', about: 'approve an open question, as /pending shows it', run: approve },
  deny: { takes: '[n] [why]', about: 'say no to an open question', run: deny },
  continue: { about: 'resume a turn that stopped, ask again what is open', run: (talk) => talk.goOn() },
  sessions: { about: 'your newest sessions', run: sessions },
  resume: { takes: '[n or id]', about: 'resume another session; without a number the newest', run: resume },
  model: { takes: '[name]', about: 'which model is asked, or another one from now on', run: model },
  mode: {
    takes: '[mode]',
    about: `permission mode: ${PERMISSION_MODES.join(', ')}`,
    words: PERMISSION_MODES,
    run: mode,
  },
  compact: { about: 'sum up older messages of what the model is sent; nothing is lost', run: compact },
  usage: { about: 'tokens and cost of this session', run: usageOf },
  clear: { about: 'begin a new session; this one stays stored', run: clear },
  exit: { about: 'leave (also Ctrl-D)', run: async () => 'leave' },
};

/**
 * Runs what was typed after a slash.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` for what is no command
 */
export async function runCommandLine(talk: Conversation, line: string): Promise<'leave' | undefined> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = Object.hasOwn(commands, name) ? commands[name] : name === 'quit' ? commands.exit : undefined;
  if (!command) {
    const near = nearest(name, Object.keys(commands));
    const hint = near === undefined ? '' : ` (did you mean /${near}?)`;
    throw usageError(`there is no command /${clean(name)}${hint}; /help lists them. Nothing was sent`);
  }
  return (await command.run(talk, rest.trim())) || undefined;
}

/** Commands, and their words, that a line may go on with. */
export function complete(line: string): [string[], string] {
  const found = /^\/(\S*)(?:\s+(\S*))?$/.exec(line);
  if (!found) return [[], line];
  const [, name = '', word] = found;
  if (word === undefined) {
    const names = Object.keys(commands).map((known) => `/${known}`);
    return [names.filter((known) => known.startsWith(`/${name}`)), line];
  }
  const words = Object.hasOwn(commands, name) ? (commands[name]?.words ?? []) : [];
  return [words.filter((known) => known.startsWith(word)), word];
}

async function help({ frame: { screen } }: Conversation): Promise<void> {
  for (const [name, { takes, about }] of Object.entries(commands)) {
    screen.line(`  ${`/${name}${takes === undefined ? '' : ` ${takes}`}`.padEnd(20)} ${about}`);
  }
  screen.line(paint('dim', '  Alt-Enter, or \\ at the end of a line, begins a new line; a paste is one message'));
  screen.line(
    paint('dim', '  Arrow up: earlier messages. Tab completes. Ctrl-C stops a turn, clears the line, leaves'),
  );
}

async function tools({ frame: { screen, work } }: Conversation): Promise<void> {
  const all = await moduleTools(work.module);
  if (all.length === 0) screen.line('the agent has no tools');
  for (const { name, description = '', annotations } of all) {
    const may = annotations?.readOnly ? '' : paint('yellow', ' · may change something');
    screen.line(`  ${clean(name)}${may}  ${paint('dim', oneLine(description, lineWidth() - name.length - 30))}`);
  }
}

async function pending(talk: Conversation): Promise<void> {
  const { screen } = talk.frame;
  const open = await talk.openQuestions();
  if (open.length === 0) screen.line('nothing waits for an answer');
  for (const [index, request] of open.entries()) showWhole(talk, request, index);
}

function showWhole(talk: Conversation, request: ReportedRequest, index: number): void {
  const { screen } = talk.frame;
  const { name, args } = request;
  screen.line(`${paint('yellow', `${index + 1}`)} ${paint('bold', describeRequest(request))}`);
  if (name !== undefined) screen.line(paint('dim', `  ${clean(name)} ${argsLine(args, argsWidth(name))}`));
  for (const line of questionLines(request)) screen.line(`  ${line}`);
  talk.shown.set(request.requestId, digestOf(request));
}

/** An agent's own question has none: what it asks does not change. */
function digestOf({ approval }: ReportedRequest): string {
  return approval?.previewDigest ?? '';
}

async function approve(talk: Conversation, rest: string): Promise<void> {
  const { request, index } = await chosen(talk, rest);
  const { approval } = request;
  if (!approval && (request.requestedSchema !== undefined || request.elicitation === 'auth_required')) {
    throw usageError('this one needs more than an approval: press Enter at an empty line to be asked');
  }
  // A yes is to what was shown.
  if (talk.shown.get(request.requestId) !== digestOf(request)) {
    showWhole(talk, request, index);
    talk.frame.screen.line(`this is what you would approve: /approve ${index + 1} once more approves it`);
    return;
  }
  await give(
    talk,
    request,
    approval ? { kind: 'approve', previewDigest: approval.previewDigest } : { kind: 'elicitation', action: 'accept' },
  );
}

async function deny(talk: Conversation, rest: string): Promise<void> {
  const [, number = '', why = ''] = /^(\d*)\s*(.*)$/s.exec(rest) ?? [];
  const { request } = await chosen(talk, number);
  const reason = why === '' ? {} : { reason: why };
  await give(
    talk,
    request,
    request.approval ? { kind: 'deny', ...reason } : { kind: 'elicitation', action: 'decline', ...reason },
  );
}

async function chosen(talk: Conversation, text: string): Promise<{ request: ReportedRequest; index: number }> {
  const open = await talk.openQuestions();
  if (open.length === 0) throw usageError('nothing waits for an answer');
  const index = text === '' && open.length === 1 ? 0 : open.findIndex(isMeant(text));
  const request = open[index];
  if (!request) throw usageError(`${open.length} questions are open; give the number of one, as /pending shows them`);
  return { request, index };
}

function isMeant(text: string): (request: ReportedRequest, index: number) => boolean {
  return ({ requestId }, index) => text === requestId || text === String(index + 1);
}

async function give(talk: Conversation, request: ReportedRequest, answer: RequestAnswer): Promise<void> {
  const session = await talk.current();
  const { status, by } = await session.respond(request.requestId, answer);
  const { screen } = talk.frame;
  if (status === 'already_settled') screen.line(`already answered${by === undefined ? '' : ` by ${clean(by)}`}`);
  else if (status === 'waiting_quorum') screen.line('noted; others must approve too');
  await talk.turn({ kind: 'continue' });
}

async function sessions(talk: Conversation): Promise<void> {
  const { screen, flags, work } = talk.frame;
  const list = await talk.newest(SESSIONS_SHOWN);
  if (list.length === 0) screen.line(`there are no sessions of ${clean(flags.user)} in ${work.store.url}`);
  for (const [index, { id, updatedAt, pending: open, unfinished, title }] of list.entries()) {
    const state = open > 0 ? ` · ${open} open` : unfinished ? ' · unfinished' : '';
    const here = id === talk.session?.id ? ' · this one' : '';
    const name = title === undefined ? '' : `  ${oneLine(title, 40)}`;
    screen.line(`  ${String(index + 1).padStart(2)}  ${id}  ${updatedAt}${state}${here}${paint('dim', name)}`);
  }
  if (list.length > 0) screen.line(paint('dim', '  /resume N resumes one'));
}

async function resume(talk: Conversation, rest: string): Promise<void> {
  const list = await talk.newest(SESSIONS_SHOWN);
  const others = list.filter(({ id }) => id !== talk.session?.id);
  const id = rest === '' ? others[0]?.id : /^\d{1,2}$/.test(rest) ? list[Number(rest) - 1]?.id : rest;
  if (id === undefined) throw usageError('there is no such session; /sessions lists them');
  if (id === talk.session?.id) throw usageError('this is the session that you are in');
  const known = list.find((session) => session.id === id);
  const { path, flags } = talk.frame;
  if (flags.mcpServers !== undefined && (!known || known.pending > 0 || known.unfinished)) {
    // This conversation may have begun without one of the servers, which something of that session may wait for.
    const line = comeBackLine(path, { session: id, ...hostOptions(flags) });
    throw usageError(`with --mcp-servers a session that is not complete is taken up by a command of its own: ${line}`);
  }
  const { turn } = await talk.open(id);
  await talk.takeUp(turn);
}

async function model(talk: Conversation, rest: string): Promise<void> {
  const { screen, work } = talk.frame;
  if (rest !== '') work.useModel(rest);
  screen.line(`model ${clean(work.model ?? "the agent's own")}`);
}

async function mode(talk: Conversation, rest: string): Promise<void> {
  const { screen } = talk.frame;
  const wanted = PERMISSION_MODES.find((known) => known === rest);
  if (rest !== '' && !wanted)
    throw usageError(`there is no mode ${clean(rest)}; there are ${PERMISSION_MODES.join(', ')}`);
  if (wanted) await (await talk.current()).update({ permissionMode: wanted });
  const standing = await talk.session?.standing?.();
  screen.line(`mode ${standing?.permissionMode ?? talk.frame.work.host.permissionMode ?? 'default'}`);
}

async function compact(talk: Conversation): Promise<void> {
  const { screen } = talk.frame;
  const { compacted, tokensBefore, tokensAfter, reason = '' } = await (await talk.current()).compact();
  if (compacted) screen.line(`about ${tokensAfter} tokens instead of ${tokensBefore}`);
  else screen.line(`nothing was summed up: ${clean(reason)}`);
}

async function usageOf(talk: Conversation): Promise<void> {
  let calls = 0;
  let sum: Usage = {};
  const { prices } = talk.frame.work.module;
  for await (const event of talk.session?.events() ?? []) {
    if (event.type !== 'usage') continue;
    calls++;
    const usd = costOf(event, prices);
    sum = addUsage(sum, usd === undefined ? event : { ...event, cost: { usd } });
  }
  const { inputTokens = 0, outputTokens = 0, cost } = sum;
  const paid = cost && cost.usd > 0 ? `, ${cost.usd.toFixed(4)} USD` : '';
  talk.frame.screen.line(`${calls} model calls, ${inputTokens} tokens in, ${outputTokens} tokens out${paid}`);
}

async function clear(talk: Conversation): Promise<void> {
  const line = talk.farewell();
  const { screen } = talk.frame;
  talk.reset();
  screen.line('the next message begins a new session');
  if (line !== undefined) screen.line(paint('dim', `the one before: ${line}`));
}
