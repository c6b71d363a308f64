import type { Principal, ReportedRequest, RequestAnswer } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { wordsOfApprovers } from '../../gate/index.ts';
import type { OpenApproval } from '../../host/index.ts';
import { questionLines } from '../questions/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { clean, EXIT, paint, Screen, usageError } from '../terminal/index.ts';
import { runStreamOnScreen, viewOf } from '../turn/index.ts';
import type { HostFlags, ModuleHost, RunFlags } from '../workspace/index.ts';
import {
  closeQuietly,
  DIGEST_LENGTH,
  describeRequest,
  openModuleHost,
  openWorkspaceStore,
  shownDigest,
} from '../workspace/index.ts';

export interface ListApprovalsFlags extends HostFlags {
  agent?: string;
  session?: string;
  json?: true;
}

/** `coxswain approvals list`: with an agent module the questions, without one the open calls. */
export async function listApprovals(flags: ListApprovalsFlags, interrupts: Interrupts): Promise<number> {
  if (flags.agent === undefined) return listCalls(flags);
  const screen = new Screen();
  const work = await openModuleHost(flags.agent, flags, { screen, interrupts });
  try {
    const open = await work.host.approvals.list(flags.session === undefined ? {} : { sessionId: flags.session });
    if (open.length === 0 && !flags.json) screen.line('nothing waits for an answer');
    for (const item of open) process.stdout.write(flags.json ? `${JSON.stringify(item)}\n` : describe(item));
    return EXIT.done;
  } finally {
    await closeQuietly(work);
  }
}

async function listCalls(flags: ListApprovalsFlags): Promise<number> {
  const store = await openWorkspaceStore(flags.store);
  try {
    const calls = await store.sessions.openCalls({ app: flags.app });
    const shown = calls.filter(({ key }) => flags.session === undefined || key.id === flags.session);
    if (shown.length === 0 && !flags.json) process.stderr.write('nothing is open\n');
    for (const { key, callId, name } of shown) {
      const line = flags.json
        ? JSON.stringify({ callId, name, sessionId: key.id, userId: key.userId })
        : `${callId}  ${clean(name)}  session ${key.id}  user ${clean(key.userId)}`;
      process.stdout.write(`${line}\n`);
    }
    if (shown.length > 0 && !flags.json)
      process.stderr.write('--agent MODULE shows what is asked, and what may be answered\n');
    return EXIT.done;
  } finally {
    await store.close();
  }
}

function describe({ request, userId }: OpenApproval): string {
  const { approval, requestId, sessionId, requestedAt, expiresAt } = request;
  const facts = [
    `session ${sessionId}`,
    `user ${clean(userId)}`,
    `asked ${requestedAt}`,
    ...(expiresAt === undefined ? [] : [`expires ${expiresAt}`]),
    ...(approval?.ruleId === undefined ? [] : [`rule ${clean(approval.ruleId)}`]),
    ...wordsOfApprovers(approval ?? {}).map((words) => clean(words)),
    ...(approval ? [`digest ${shownDigest(request)}`] : []),
  ];
  const preview = questionLines(request, { all: true }).map((line) => `    ${line}\n`);
  return `${requestId}\n  ${describeRequest(request)}\n  ${paint('dim', facts.join(' · '))}\n${preview.join('')}`;
}

export interface AnswerFlags extends RunFlags {
  agent?: string;
  args?: string;
  digest?: string;
  reason?: string;
  by?: string;
  role?: string[];
  /** False with --no-run. */
  run: boolean;
}

/** `coxswain approvals approve|deny`: records the answer, then goes on with the run. */
export async function answerApproval(
  verb: 'approve' | 'deny',
  id: string,
  flags: AnswerFlags,
  interrupts: Interrupts,
): Promise<number> {
  const path = flags.agent;
  if (path === undefined) throw usageError('--agent MODULE is needed: its tools and policy say what is being answered');
  const args = flags.args === undefined ? undefined : parseArgs(flags.args);
  const screen = new Screen();
  const work = await openModuleHost(path, flags, { screen, interrupts });
  try {
    const open = theOnly(
      (await work.host.approvals.list()).filter(({ request }) => isMeant(request, id)),
      id,
    );
    if (!open) throw unknown(id, work);
    if (flags.digest !== undefined) assertShown(open.request, flags.digest);
    const session = await work.host.open(work.agent, { sessionId: open.request.sessionId, userId: open.userId });
    work.session = session;
    const by: Principal = { id: flags.by ?? flags.user, ...(flags.role ? { roles: flags.role } : {}) };
    const answer: RequestAnswer = { ...answerTo(open.request, verb, { ...flags, args }), by };
    const { status, by: other } = await session.respond(open.request.requestId, answer).catch(asCommand);
    const past = verb === 'approve' ? 'approved' : 'denied';
    if (status === 'already_settled')
      screen.line(`already answered${other === undefined ? '' : ` by ${clean(other)}`}`);
    else if (status === 'waiting_quorum') screen.line(`noted for ${clean(by.id)}; others must approve too`);
    else screen.line(`${past} by ${clean(by.id)}: ${describeRequest(open.request)}`);
    if (!flags.run) return EXIT.done;
    const frame = { path, flags, work, screen, interrupts, view: viewOf(flags, screen) };
    return await goOn(() => runStreamOnScreen(frame, session, { kind: 'continue' }), screen);
  } finally {
    await closeQuietly(work);
  }
}

async function goOn(run: () => Promise<number>, screen: Screen): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!isCoxswainError(error)) throw error;
    if (error.code === 'E_TURN_COMPLETED') return EXIT.done;
    if (error.code !== 'E_SESSION_BUSY') throw error;
    screen.line('another process runs the session and continues it');
    return EXIT.done;
  }
}

/** A yes is to what was listed, not to what has become of it since. */
function assertShown({ requestId, approval }: ReportedRequest, digest: string): void {
  if (digest.length < DIGEST_LENGTH) throw usageError(`--digest takes ${DIGEST_LENGTH} digits or more`);
  if (approval?.previewDigest.startsWith(digest.toLowerCase())) return;
  throw previewChanged(`what ${requestId} would do is not what was shown under digest ${digest}`);
}

function previewChanged(what: string, cause?: unknown): CoxswainError {
  const message = `${what}; "coxswain approvals list" shows it, with the digest that --digest takes`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_PREVIEW_CHANGED', message, { cause });
}

/** What a refusal says to programs, in words of this command. */
function asCommand(error: unknown): never {
  if (!isCoxswainError(error) || error.code !== 'E_PREVIEW_CHANGED') throw error;
  throw previewChanged('what would happen has changed since it was shown', error);
}

/** Of one session: an id may be open in several, where an executor numbers its calls. */
function theOnly(found: readonly OpenApproval[], id: string): OpenApproval | undefined {
  const places = new Set(found.map(({ userId, request }) => JSON.stringify([userId, request.sessionId])));
  if (places.size <= 1) return found[0];
  const sessions = found.map(({ request }) => request.sessionId).join(', ');
  throw usageError(
    `${places.size} sessions ask a question ${id} (${sessions}); answer with "coxswain run --session ID"`,
  );
}

function isMeant(request: ReportedRequest, id: string): boolean {
  return request.requestId === id || request.callId === id;
}

function answerTo(
  request: ReportedRequest,
  verb: 'approve' | 'deny',
  { args, reason, digest }: { args?: Record<string, unknown> | undefined; reason?: string; digest?: string },
): RequestAnswer {
  const why = reason === undefined ? {} : { reason };
  // An agent's own question takes content, not arguments.
  if (!request.approval) {
    const action = verb === 'approve' ? 'accept' : 'decline';
    return { kind: 'elicitation', action, ...(args ? { content: args } : {}), ...why };
  }
  if (verb === 'deny') return { kind: 'deny', ...why };
  // Nobody here has seen what it is now: without a digest the yes is to what a run has shown last.
  const shown = digest === undefined ? {} : { previewDigest: request.approval.previewDigest };
  return { kind: 'approve', ...shown, ...(args ? { args } : {}), ...why };
}

function parseArgs(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`--args is not JSON: ${messageOf(error)}`, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError('--args must be a JSON object');
  return value as Record<string, unknown>;
}

function unknown(id: string, work: ModuleHost): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_UNKNOWN_REQUEST',
    `no session of agent ${work.agent} in ${work.store.url} has an open request ${id}; "coxswain approvals list" ` +
      'shows what is open',
  );
}
