import type {
  AgentEvent,
  DecidedPage,
  PolicyDecisionRecord,
  SessionPlace,
  SessionSummary,
  StoredDecision,
  ToolResponseEvent,
} from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import type { LogMark, SaidAnswer } from '../../session/index.ts';
import { callResult, decidedPage, markAt, readBehind, saidIn } from '../../session/index.ts';
import type { DecidedFilter } from './approvals.ts';
import type { AskedPlaces } from './asked-places.ts';
import { lookPast } from './open-places.ts';
import type { ApprovalHost } from './open-sessions.ts';
import { decidedQuery, shown } from './stored-decisions.ts';

/** Sessions that one look goes through, those that changed last first. */
const MAX_SESSIONS = 500;
/** Sessions asked of the store at a time, and read at a time. */
const PAGE = 100;
const AT_ONCE = 4;
/** Sessions whose decided questions are kept. */
const MAX_KEPT = 5000;
type Entry = Omit<StoredDecision, keyof SessionPlace | 'people' | 'answerers'> & {
  people: string[];
  answerers: string[];
  /** Some have approved, and not yet as many as have to. */
  isVoted: boolean;
};

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
 * Questions that people have answered, in the sessions that changed last, for stores that keep no index of them. A log is read once, and then what was added to it;
 * one look after the other.
 */
export class DecidedQuestions {
  readonly #host: Pick<ApprovalHost, 'borrow' | 'warn' | 'allSessions' | 'storeAgent'>;
  readonly #places: Pick<AskedPlaces, 'add'>;
  /** Those that were read last come last. */
  readonly #read = new Map<string, Read>();
  #looking: Promise<unknown> = Promise.resolve();
  /** A look that has not begun. */
  #next: Promise<StoredDecision[]> | undefined;

  constructor(
    host: Pick<ApprovalHost, 'borrow' | 'warn' | 'allSessions' | 'storeAgent'>,
    places: Pick<AskedPlaces, 'add'>,
  ) {
    this.#host = host;
    this.#places = places;
  }

  async list(filter: DecidedFilter): Promise<DecidedPage> {
    const query = decidedQuery(filter);
    const { decided, ...page } = decidedPage(await this.#look(), query);
    return { ...page, decided: await this.#places.add(decided.map(shown)), newest: MAX_SESSIONS };
  }

  /** Those who ask while one look is under way share the next one. */
  #look(): Promise<StoredDecision[]> {
    if (this.#next) return this.#next;
    const look = this.#looking.then(() => {
      this.#next = undefined;
      return this.#all();
    });
    this.#next = look;
    this.#looking = look.catch(() => {});
    return look;
  }

  async #all(): Promise<StoredDecision[]> {
    const found: StoredDecision[] = [];
    for (const session of await this.#sessions()) {
      const { userId, id: sessionId, agent = '' } = session;
      const { entries } = this.#read.get(nameOf(session)) ?? {};
      for (const { isVoted, ...entry } of entries?.values() ?? []) {
        if (!isVoted) found.push({ ...entry, agent, userId, sessionId });
      }
    }
    return found;
  }

  /** Those that one look goes through, read as far as they go. */
  async #sessions(): Promise<SessionSummary[]> {
    const sessions: SessionSummary[] = [];
    for (let after: string | undefined; sessions.length < MAX_SESSIONS; ) {
      const page = await this.#host.allSessions({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      const last = page.at(-1);
      sessions.push(...page.filter(({ agent }) => agent !== undefined));
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
    const { userId, id: sessionId } = session;
    // A sub-agent is no agent of the host's, and its log is in the same store.
    const agent = this.#host.storeAgent ?? '';
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
  const of = (callId: string) => [...entries.values()].filter((entry) => entry.callId === callId);
  const said = saidIn(event);
  if (said) answer(read, said, event);
  else if (event.type === 'tool_request') tools.set(event.requestId, event.name);
  else if (event.type === 'tool_response') {
    const { requestId, isError, errorType, timestamp } = event as ToolResponseEvent;
    for (const entry of of(requestId)) {
      entry.result = callResult(isError, errorType);
      entry.endedAt = timestamp;
    }
  } else if (event.type === 'custom' && event.kind === 'policy_decision') {
    const { callId, ruleId, outcome, by } = event.data as PolicyDecisionRecord;
    for (const entry of of(callId)) {
      if (entry.isVoted && outcome === 'approved' && by.startsWith(USER)) {
        entry.by = by.slice(USER.length);
        entry.isVoted = false;
      }
      entry.outcome = outcome;
      if (ruleId !== undefined) entry.ruleId = ruleId;
    }
  }
}

function answer({ tools, entries }: Read, said: SaidAnswer, { type, timestamp: at }: AgentEvent): void {
  const { requestId, action, by, byName } = said;
  const before = entries.get(requestId);
  const isVote = type === 'custom';
  const callId = callIdOf(requestId);
  const tool = tools.get(callId);
  const { by: _, ...known } = before ?? {};
  entries.set(requestId, {
    ...(before && isVote && !before.isVoted
      ? before
      : { ...known, requestId, callId, action, at, isVoted: isVote, ...(by === undefined ? {} : { by }) }),
    ...(tool === undefined ? {} : { tool }),
    people: withOne(before?.people, by),
    // Older executors give the id alone, which is also that of the same principal where they act for others.
    answerers: withOne(before?.answerers, byName),
  });
}

const USER = 'user:';

const withOne = (known: readonly string[] = [], one: string | undefined): string[] =>
  one === undefined || known.includes(one) ? [...known] : [...known, one];

const standOf = ({ updatedAt, length }: SessionSummary) => `${updatedAt} ${length}`;
const nameOf = ({ userId, id }: SessionSummary) => JSON.stringify([userId, id]);
