import type { AgentEvent, AgentSession, ArtifactShown, Principal, SessionPlace } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { CallExplanation, Shape } from '../../session/index.ts';
import { checkIs, checkNoPromise, checkOptions, eventFacts, flag, literal, names } from '../../session/index.ts';
import type { AgentHost } from '../index.ts';
import { artifactContent, withheld } from './artifact-content.ts';
import type { SearchedSessions, SessionSearch } from './find-sessions.ts';
import { findSessions } from './find-sessions.ts';
import { Readings } from './readings.ts';
import type { OperatorOf, OperatorScope } from './scope.ts';

const scopeShape: Shape<OperatorScope> = { users: names, content: flag };

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

  /** Sessions of all users in their scope. */
  async list(who: Principal, query: SessionSearch): Promise<SearchedSessions> {
    const scope = this.assertOperator(who);
    const { listAll } = this.#host.sessions();
    if (!listAll) {
      const message = 'the agents of this host keep no sessions that can be listed over all users';
      throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
    }
    const users = query.user !== undefined && isInScope(query.user, scope) ? [query.user] : scope.users;
    const { after } = query;
    // Of one that is not in their scope nobody says whether it is there.
    if (after !== undefined && !isInScope(after.slice(0, after.indexOf('/')), scope)) throw notFound(after);
    return findSessions(
      {
        page: (options) => listAll({ ...options, ...(users ? { users } : {}) }),
        placeOf: ({ userId, id }) => `${userId}/${id}`,
        // A provider may know nothing of `users`.
        isTheirs: ({ userId }) => isInScope(userId, scope),
        seesContent: scope.content === true,
      },
      query,
    );
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

  /** An artifact of one session: for those who see content, where policy hides nothing. */
  async artifact(
    who: Principal,
    { userId, sessionId, agent }: SessionPlace,
    { name, version, maxPayload }: { name: string; version?: number | undefined; maxPayload: number },
  ): Promise<ArtifactShown> {
    const scope = this.assertOperator(who);
    if (!isInScope(userId, scope)) throw notFound(sessionId);
    if (!scope.content) {
      const message = `${who.id} sees what happened, and not what was said or kept`;
      throw new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', message);
    }
    await using session = await this.#open({ userId, sessionId, agent });
    const shown = await artifactContent(session, name, version, maxPayload);
    // Read behind it: what a call keeps is kept after it was decided.
    const log = await this.#readings.shownLog(session, { userId, agent: session.descriptor.name });
    return withheld(shown, log.hidesNothing);
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

function notFound(sessionId: string): CoxswainError {
  return new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', `there is no session ${JSON.stringify(sessionId)}`);
}
