import type { AgentEvent, PolicyDecisionRecord, SessionPlace, SessionSummary } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { mayBeSubagents } from '../../gate/index.ts';
import type { DecidedQuestion, LogMark } from '../../session/index.ts';
import { markAt, nameOfPrincipal, readBehind } from '../../session/index.ts';
import type { DecidedFilter } from './approvals.ts';
import { lookPast } from './open-places.ts';
import type { ApprovalHost } from './open-sessions.ts';

/** Sessions that one look goes through, those that changed last first. */
const MAX_SESSIONS = 500;
/** Sessions asked of the store at a time, and read at a time. */
const PAGE = 100;
const AT_ONCE = 4;
/** Sessions whose decided questions are kept. */
const MAX_KEPT = 5000;
/** Of one answer, unless another number is asked for. */
const SHOWN = 50;

interface Entry extends Omit<DecidedQuestion, keyof SessionPlace> {
  /** Ids of all who have answered it. */
  people: Set<string>;
  /** Names of the principals: the same id may act for others. */
  answerers: Set<string>;
}

type Found = DecidedQuestion & Pick<Entry, 'people' | 'answerers'>;

interface Read {
  /** Where the log stood: at another place, there is more to read. */
  stand: string;
  /** How far it was read. */
  mark?: LogMark | undefined;
  /** Tools of calls, by id. */
  tools: Map<string, string>;
  entries: Map<string, Entry>;
}

/**
 * Questions that people have answered, in the sessions that changed last. A log is read once, and then what was added to it;
 * one look after the other.
 */
export class DecidedQuestions {
  readonly #host: Pick<ApprovalHost, 'borrow' | 'warn' | 'allSessions'>;
  /** Those that were read last come last. */
  readonly #read = new Map<string, Read>();
  #looking: Promise<unknown> = Promise.resolve();
  /** A look that has not begun. */
  #next: Promise<Found[]> | undefined;

  constructor(host: Pick<ApprovalHost, 'borrow' | 'warn' | 'allSessions'>) {
    this.#host = host;
  }

  /** Newest first. */
  async list(filter: DecidedFilter): Promise<DecidedQuestion[]> {
    const all = await this.#look();
    const { limit = SHOWN, after } = filter;
    const found = all.filter((one) => isShown(one, filter)).sort((a, b) => order(b, a));
    const from = after === undefined ? 0 : found.findIndex((one) => placeOf(one) < after);
    return from < 0 ? [] : found.slice(from, from + limit).map(({ people: _, answerers: __, ...one }) => one);
  }

  /** Those who ask while one look is under way share the next one. */
  #look(): Promise<Found[]> {
    if (this.#next) return this.#next;
    const look = this.#looking.then(() => {
      this.#next = undefined;
      return this.#all();
    });
    this.#next = look;
    this.#looking = look.catch(() => {});
    return look;
  }

  async #all(): Promise<Found[]> {
    const found: Found[] = [];
    for (const session of await this.#sessions()) {
      const { userId, id: sessionId, agent = '' } = session;
      const { entries } = this.#read.get(nameOf(session)) ?? {};
      for (const entry of entries?.values() ?? []) found.push({ ...entry, agent, userId, sessionId });
    }
    return found;
  }

  /** Those that one look goes through, read as far as they go. */
  async #sessions(): Promise<SessionSummary[]> {
    const sessions: SessionSummary[] = [];
    for (let after: string | undefined; sessions.length < MAX_SESSIONS; ) {
      const page = await this.#host.allSessions({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      const last = page.at(-1);
      // What a sub-agent asks is asked, and answered, in the session of its caller.
      sessions.push(...page.filter(({ id, agent }) => agent !== undefined && !mayBeSubagents(id)));
      if (page.length < PAGE || !last) break;
      after = `${last.userId}/${last.id}`;
    }
    const changed = sessions.filter((one) => this.#read.get(nameOf(one))?.stand !== standOf(one));
    for (let at = 0; at < changed.length; at += AT_ONCE) {
      await Promise.all(changed.slice(at, at + AT_ONCE).map((one) => this.#readOne(one)));
    }
    for (const oldest of this.#read.keys()) {
      if (this.#read.size <= MAX_KEPT) break;
      this.#read.delete(oldest);
    }
    return sessions;
  }

  /** One that cannot be read hides no other. */
  async #readOne(session: SessionSummary): Promise<void> {
    const name = nameOf(session);
    const { userId, id: sessionId, agent = '' } = session;
    const known = this.#read.get(name);
    this.#read.delete(name);
    const found = await lookPast(this.#host, { agent, userId, sessionId }, async (opened) => {
      const isRead = known !== undefined && (await readBehind(opened, known.mark, (event) => note(known, event)));
      const read = isRead ? known : newRead();
      if (!isRead) for await (const event of opened.events()) note(read, event);
      read.stand = standOf(session);
      return read;
    });
    if (found?.found) this.#read.set(name, found.found);
  }
}

const newRead = (): Read => ({ stand: '', tools: new Map(), entries: new Map() });

function note(read: Read, event: AgentEvent): void {
  const { tools, entries } = read;
  read.mark = markAt(read.mark, event);
  if (event.type === 'tool_request') tools.set(event.requestId, event.name);
  else if (event.type === 'elicitation_response') {
    const { requestId, action, by, byName, timestamp: at } = event as typeof event & { by?: string; byName?: string };
    const before = entries.get(requestId);
    const people = before?.people ?? new Set();
    const answerers = before?.answerers ?? new Set();
    if (by !== undefined) people.add(by);
    // Older executors give the id alone, which is also that of the same principal where they act for others.
    if (byName !== undefined) answerers.add(byName);
    const tool = tools.get(callIdOf(requestId));
    entries.set(requestId, {
      ...before,
      ...{ requestId, action, at, people, answerers },
      ...(tool === undefined ? {} : { tool }),
      ...(by === undefined ? {} : { by }),
    });
  } else if (event.type === 'custom' && event.kind === 'policy_decision') {
    const { callId, ruleId, outcome } = event.data as PolicyDecisionRecord;
    for (const entry of entries.values()) {
      if (callIdOf(entry.requestId) !== callId) continue;
      entry.outcome = outcome;
      if (ruleId !== undefined) entry.ruleId = ruleId;
    }
  }
}

function isShown(one: Found, filter: DecidedFilter): boolean {
  const { by, userId, action, tool, answeredBy, since, before, search, everybodys = false } = filter;
  const who = nameOfPrincipal(by);
  if (one.userId !== who && !one.answerers.has(who) && !(everybodys === true || includes(everybodys, one.userId)))
    return false;
  if (userId !== undefined && one.userId !== userId) return false;
  if (action !== undefined && one.action !== action) return false;
  if (tool !== undefined && one.tool !== tool) return false;
  if (answeredBy !== undefined && !one.people.has(answeredBy) && !one.answerers.has(answeredBy)) return false;
  const at = Date.parse(one.at);
  if ((since !== undefined && !(at >= since)) || (before !== undefined && !(at < before))) return false;
  if (search === undefined) return true;
  const words = [one.tool, one.sessionId, one.userId, one.ruleId, ...one.people].join(' ').toLowerCase();
  return words.includes(search.toLowerCase());
}

const includes = (users: false | readonly string[], userId: string) => users !== false && users.includes(userId);

/** Of two that were answered at the same time, by their names. */
const placeOf = ({ at, sessionId, requestId }: DecidedQuestion) => `${at} ${sessionId} ${requestId}`;
const order = (a: DecidedQuestion, b: DecidedQuestion) => (placeOf(a) < placeOf(b) ? -1 : 1);
const standOf = ({ updatedAt, length }: SessionSummary) => `${updatedAt} ${length}`;
const nameOf = ({ userId, id }: SessionSummary) => JSON.stringify([userId, id]);
