import { createReadStream } from 'node:fs';
import { project } from '../../adapters/adk/index.ts';
import type { AuditReport } from '../../adapters/audit/index.ts';
import { describeReport, exportAudit, verifyExport, verifySession } from '../../adapters/audit/index.ts';
import type { Principal, SessionSummary } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { ChainHead, SessionKey } from '../../runtime/index.ts';
import { storeRefusal } from '../../runtime/index.ts';
import type { AuditEntry, RedactionOptions, RedactionRule } from '../../session/index.ts';
import { auditOf } from '../../session/index.ts';
import { clean, EXIT, linesIn, oneLine, usageError } from '../terminal/index.ts';
import type { Store, StoreFlags } from '../workspace/index.ts';
import { openWorkspaceStore } from '../workspace/index.ts';

export interface ViewerFlags extends StoreFlags {
  as?: string;
  role?: string[];
  reveal?: string[];
  hide?: string[];
  json?: true;
}

export interface VerifyFlags extends StoreFlags {
  file?: string;
  against?: string;
  head?: string;
  all?: true;
  /** With `all`: the user whose sessions are meant; absent: everybody's. */
  only?: string;
}

const HIDDEN =
  'some arguments are hidden: a policy hides them, or no policy has decided on the call. ' +
  'To see them, name a role that may, and that you have it: --reveal auditor --role auditor';

/** `coxswain audit show`: what became of each call. */
export async function showAudit(id: string, flags: ViewerFlags): Promise<number> {
  return withStore(flags, async (store) => {
    const key = keyOf(id, flags);
    const record = await store.sessions.get(key);
    if (!record) throw storeRefusal.missing(key);
    const entries = await auditOf(
      record.events.flatMap((event) => project(id, event)),
      redactionOf(flags),
    );
    for (const entry of entries) {
      process.stdout.write(flags.json ? `${JSON.stringify(entry)}\n` : `${linesOf(entry).join('\n')}\n`);
    }
    if (entries.length === 0) process.stderr.write(`session ${id} has no calls\n`);
    if (entries.some(({ redacted }) => redacted) && !flags.json && !flags.reveal) {
      process.stderr.write(`${HIDDEN}\n`);
    }
    return EXIT.done;
  });
}

/** `coxswain audit export`: the evidence as JSON lines on stdout. */
export async function exportEvidence(id: string, flags: ViewerFlags): Promise<number> {
  return withStore(flags, async (store) => {
    for await (const line of exportAudit(store.sessions, keyOf(id, flags), redactionOf(flags))) {
      if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    return EXIT.done;
  });
}

/** `coxswain audit verify`: of a stored session, of all of them, or of an exported file. */
export async function verifyAudit(id: string | undefined, flags: VerifyFlags): Promise<number> {
  const given = [id, flags.file, flags.all].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw usageError('give the id of a session, --all for all sessions of the app, or --file FILE for an export');
  }
  if (flags.all) return verifyAll(flags);
  if (flags.file !== undefined) return report(await verifyFile(flags.file, '--file'));
  const anchor = await anchorOf(flags);
  return withStore(flags, async (store) => {
    return report(await verifySession(store.sessions, keyOf(id ?? '', flags), anchor ? { anchor } : {}));
  });
}

/** Sessions that are asked of the store at a time. */
const PAGE = 200;

/** A line for each session, those that failed with what is wrong; then how many there were. */
async function verifyAll(flags: VerifyFlags): Promise<number> {
  if (flags.against !== undefined || flags.head !== undefined) {
    throw usageError('--against and --head are of one session: give its id instead of --all');
  }
  const { app, only } = flags;
  return withStore(flags, async (store) => {
    let [count, failed] = [0, 0];
    for await (const { userId, id } of sessionsOf(store, { app, ...(only === undefined ? {} : { userId: only }) })) {
      const found = await verified(store, { app, userId, id });
      count++;
      if (!found.ok) failed++;
      const lines = found.lines.map((line) => `${userId}/${id}  ${line}`);
      for (const line of lines) process.stdout.write(`${clean(line)}\n`);
    }
    const words = count === 0 ? `there are no sessions in ${store.url}` : `${count} sessions, ${failed} failed`;
    process.stdout.write(`${clean(words)}\n`);
    return failed === 0 ? EXIT.done : EXIT.failed;
  });
}

/** One that cannot be read keeps no other from being checked. */
async function verified(store: Store, key: SessionKey): Promise<{ ok: boolean; lines: string[] }> {
  try {
    const found = await verifySession(store.sessions, key);
    return { ok: found.ok, lines: describeReport(found) };
  } catch (error) {
    if (!isCoxswainError(error) || error.status === 'UNAVAILABLE') throw error;
    return { ok: false, lines: [`NOT OK: ${error.code} ${error.message}`] };
  }
}

async function* sessionsOf(store: Store, scope: { app: string; userId?: string }): AsyncGenerator<SessionSummary> {
  for (let after: string | undefined; ; ) {
    const page = await store.sessions.list(scope, after === undefined ? { limit: PAGE } : { limit: PAGE, after });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = `${last.userId}/${last.id}`;
  }
}

async function anchorOf({ against, head }: VerifyFlags): Promise<ChainHead | undefined> {
  if (against !== undefined && head !== undefined) throw usageError('give --against or --head, not both');
  if (head !== undefined) {
    const [, seq, hash] = /^(\d+):([\w-]{43})$/.exec(head) ?? [];
    if (seq === undefined || hash === undefined) throw usageError('--head is the NUMBER:HASH that verify prints');
    return { seq: Number(seq), hash };
  }
  if (against === undefined) return undefined;
  const copy = await verifyFile(against, '--against');
  if (copy.ok && copy.head) return copy.head;
  for (const line of describeReport(copy)) process.stderr.write(`${clean(line)}\n`);
  throw new CoxswainError('DATA_LOSS', 'E_STORE', `--against: ${against} is damaged itself, or empty`);
}

async function verifyFile(file: string, flag: string): Promise<AuditReport> {
  try {
    return await verifyExport(linesIn(createReadStream(file)));
  } catch (error) {
    throw usageError(`${flag}: ${file} cannot be read (${messageOf(error)})`, error);
  }
}

function report(found: AuditReport): number {
  for (const line of describeReport(found)) process.stdout.write(`${clean(line)}\n`);
  return found.ok ? EXIT.done : EXIT.failed;
}

function redactionOf({ as, role, reveal, hide }: ViewerFlags): RedactionOptions {
  const viewer: Principal | undefined =
    as === undefined && role === undefined ? undefined : { id: as ?? 'cli', ...(role ? { roles: role } : {}) };
  return {
    ...(viewer ? { viewer } : {}),
    ...(reveal ? { reveal } : {}),
    ...(hide ? { rules: hide.map(ruleOf) } : {}),
  };
}

/** `TOOL:/pointer`, `TOOL:result`, `*:/pointer`. */
function ruleOf(text: string): RedactionRule {
  const colon = text.lastIndexOf(':');
  const [tool, what] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon < 1 || !(what === 'result' || what.startsWith('/'))) {
    throw usageError(`--hide ${text}: write TOOL:/pointer or TOOL:result, with * for every tool`);
  }
  return { ...(tool === '*' ? {} : { tool }), ...(what === 'result' ? { result: true } : { args: [what] }) };
}

function linesOf(entry: AuditEntry): string[] {
  const { tool, args, argsRun, requestedBy, requestedAt, agentId, outcome, endedAt } = entry;
  const who = requestedBy === undefined ? '' : ` for ${requestedBy}`;
  const lines = [`${requestedAt}  ${tool} ${short(args)}  by ${agentId ?? 'an agent'}${who}  ${entry.callId}`];
  if (argsRun) lines.push(`  edited to ${short(argsRun)}`);
  for (const { at, action, by, reason } of entry.answers) {
    lines.push(`  ${at}  ${by ?? 'somebody'}: ${action}${because(reason)}`);
  }
  for (const { at, by, ruleId, reason, outcome: word } of entry.decisions) {
    lines.push(`  ${at}  ${word} by ${by}${ruleId === undefined ? '' : `, rule ${ruleId}`}${because(reason)}`);
  }
  for (const at of entry.startedAt) lines.push(`  ${at}  started`);
  lines.push(endedAt === undefined ? '  open' : `  ${endedAt}  ${outcome}`);
  if (entry.redacted) lines.push(`  hidden: ${entry.redacted.map((pointer) => pointer || 'all arguments').join(', ')}`);
  return lines.map(clean);
}

const short = (value: unknown): string => oneLine(JSON.stringify(value), 200);
const because = (reason: string | undefined): string => (reason === undefined ? '' : ` (${oneLine(reason, 200)})`);

const keyOf = (id: string, { app, user }: StoreFlags): SessionKey => ({ app, userId: user, id });

async function withStore<T>(flags: StoreFlags, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openWorkspaceStore(flags.store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
