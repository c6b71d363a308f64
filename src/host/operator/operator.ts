import type { AgentEvent, AgentSession, Principal, SessionPlace, SessionSummary } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { CallExplanation, Shape } from '../../session/index.ts';
import { checkIs, checkNoPromise, checkOptions, eventFacts, flag, literal, names } from '../../session/index.ts';
import type { AgentHost } from '../index.ts';
import { Readings } from './readings.ts';
import type { OperatorOf, OperatorScope } from './scope.ts';

export interface SessionQuery {
  agent?: string | undefined;
  user?: string | undefined;
  state?: SessionState | undefined;
  /** In its id or its user's name; in its title, where they see content. */
  search?: string | undefined;
  limit: number;
  /** As the answer before has it. */
  after?: string | undefined;
}

const scopeShape: Shape<OperatorScope> = { users: names, content: flag };

export type SessionState = 'waits' | 'runs' | 'rests';

/** Sessions of a store that one answer looks at: a search that finds little continues with the next. */
const SCAN = 1000;
/** Sessions asked of the store at a time. */
const PAGE = 200;
/** What operators see of sessions of others. */
export class OperatorView {
  readonly #host: AgentHost;
  readonly #scopeOf: OperatorOf;
  readonly #readings: Readings;

  readonly #warn: (message: string, error?: unknown) => void;

  constructor(host: AgentHost, scopeOf: OperatorOf, warn: (message: string, error?: unknown) => void) {
    this.#host = host;
    this.#scopeOf = scopeOf;
    this.#warn = warn;
    this.#readings = new Readings(host);
  }

  /** Undefined: they are no operator; nobody is where `operator` throws, or says what is no scope. */
  scopeOf(who: Principal): OperatorScope | undefined {
    try {
      const scope: unknown = this.#scopeOf(who);
      if (scope === undefined) return undefined;
      checkNoPromise(scope, 'operator: the scope', (error) => this.#warn(`operator rejected for ${who.id}`, error));
      checkIs(scope, 'operator: the scope', literal);
      checkOptions<OperatorScope>(scope, 'operator: the scope', scopeShape);
      return scope;
    } catch (error) {
      this.#warn(`operator failed for ${who.id}: they see their own sessions alone`, error);
      return undefined;
    }
  }

  /** Of this user's sessions. */
  seesContent(who: Principal, userId: string): boolean {
    const scope = this.scopeOf(who);
    return scope?.content === true && isInScope(userId, scope);
  }

  /** @throws CoxswainError `PERMISSION_DENIED / E_FORBIDDEN` */
  assertOperator(who: Principal): OperatorScope {
    const scope = this.scopeOf(who);
    if (scope) return scope;
    throw new CoxswainError(
      'PERMISSION_DENIED',
      'E_FORBIDDEN',
      `${who.id} is no operator: they see their own sessions`,
    );
  }

  /** Sessions of all users in their scope, newest first. `after`: with it the next answer goes on. */
  async list(who: Principal, query: SessionQuery): Promise<{ sessions: SessionSummary[]; after?: string }> {
    const scope = this.assertOperator(who);
    const { listAll } = this.#host.sessions();
    if (!listAll) {
      const message = 'the agents of this host keep no sessions that can be listed over all users';
      throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
    }
    const found: SessionSummary[] = [];
    const users = query.user !== undefined && isInScope(query.user, scope) ? [query.user] : scope.users;
    const { after } = query;
    // Of one that is not in their scope nobody says whether it is there.
    if (after !== undefined && !isInScope(after.slice(0, after.indexOf('/')), scope)) throw notFound(after);
    let at = after;
    // A provider may know nothing of `users`: the place behind which the next answer begins is one that they may know.
    let known = after;
    const more = () => ({ sessions: found, ...(known === after || known === undefined ? {} : { after: known }) });
    for (let seen = 0; seen < SCAN; ) {
      const page = await listAll({
        limit: PAGE,
        ...(users ? { users } : {}),
        ...(at === undefined ? {} : { after: at }),
      });
      for (const session of page) {
        if (found.length >= query.limit) return more();
        at = `${session.userId}/${session.id}`;
        if (!isInScope(session.userId, scope)) continue;
        known = at;
        if (matches(session, query, scope)) found.push(shownSummary(session, scope));
      }
      seen += page.length;
      if (page.length < PAGE) return { sessions: found };
    }
    return more();
  }

  /** Stored events of one session, as far as they may see them. One that is not in their scope is none. */
  async events(
    who: Principal,
    { userId, sessionId, agent }: { userId: string; sessionId: string; agent: string },
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<AgentEvent[]> {
    const scope = this.assertOperator(who);
    if (!isInScope(userId, scope)) throw notFound(sessionId);
    await using session = await this.#open({ userId, sessionId, agent });
    const log = scope.content
      ? await this.#readings.shownLog(session, { userId, agent: session.descriptor.name })
      : undefined;
    const events: AgentEvent[] = [];
    for await (const event of session.events({ limit, ...(after === undefined ? {} : { after }) })) {
      // What was stored since is on the next page: what is to be hidden of it is not known yet.
      if (log && !log.hasSeen(event)) break;
      events.push(log ? log.shown(event) : eventFacts(event));
    }
    return events;
  }

  /** What was said of a call, without what is hidden of others that stand beside it. */
  async explained(place: SessionPlace, requestId: string, said: CallExplanation): Promise<CallExplanation> {
    await using session = await this.#open(place);
    const log = await this.#readings.shownLog(session, { userId: place.userId, agent: session.descriptor.name });
    return log.explained(requestId, said);
  }

  /** An agent that opens sessions of this one: those of an agent that others call have its name, and none of the host's has. */
  opening(agent: string): string {
    const { agents } = this.#host;
    return agents.some(({ name }) => name === agent) ? agent : (agents[0]?.name ?? agent);
  }

  #open({ agent, userId, sessionId }: SessionPlace): Promise<AgentSession> {
    return this.#host.open(this.opening(agent), { userId, sessionId });
  }
}

function isInScope(userId: string, { users }: OperatorScope): boolean {
  return users === undefined || users.includes(userId);
}

const stateOf = ({ pending, unfinished }: SessionSummary): SessionState =>
  pending > 0 ? 'waits' : unfinished ? 'runs' : 'rests';

function matches(session: SessionSummary, query: SessionQuery, scope: OperatorScope): boolean {
  const { agent, user, state, search } = query;
  if (!isInScope(session.userId, scope)) return false;
  if (agent !== undefined && session.agent !== agent) return false;
  if (user !== undefined && session.userId !== user) return false;
  if (state !== undefined && stateOf(session) !== state) return false;
  if (search === undefined) return true;
  const words = `${session.id} ${session.userId} ${scope.content ? (session.title ?? '') : ''}`.toLowerCase();
  return words.includes(search.toLowerCase());
}

/** A title is what somebody has said. */
function shownSummary(session: SessionSummary, { content }: OperatorScope): SessionSummary {
  if (content) return session;
  const { title: _, ...rest } = session;
  return rest;
}

function notFound(sessionId: string): CoxswainError {
  return new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`);
}
