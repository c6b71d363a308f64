import { CoxswainError, isCoxswainError } from '../../../contracts/index.ts';
import { mayBeSubagents, notApprover, whyNotOpen } from '../../../gate/index.ts';
import { nameOfPrincipal } from '../../../session/index.ts';
import type { OpenApproval } from '../../approvals/index.ts';
import { hasCaller, onlyOne, toldToOwner } from '../../approvals/index.ts';
import { assertClientRuns, callerOf, goOn, HostedSession, isSubagents } from '../../hosted/index.ts';
import type { AgentHost } from '../../index.ts';
import type { OperatorOf } from '../../operator/index.ts';
import { OperatorView } from '../../operator/index.ts';
import { stricterMode } from '../../terms/index.ts';
import type { Channel } from '../stream/index.ts';
import type { ServerOptions } from './ceiling.ts';
import { answerBy, Ceiling, inputBy } from './ceiling.ts';
import type { Rewind, Served, ServedApprovals, Verify } from './served.ts';
import { storeAnswers } from './store-answers.ts';

/** What a server does for its clients beside running sessions. */
interface Abilities {
  operator?: OperatorOf | undefined;
  verify?: Verify | undefined;
  rewind?: Rewind | undefined;
}

/** Hosted sessions: policy and tools stay with the server. Sessions belong to their principal. */
export function servedHost(
  host: AgentHost,
  options: ServerOptions,
  warn: (message: string, error?: unknown) => void,
  { operator: operatorOf, verify, rewind }: Abilities = {},
): Served {
  const { permissionMode = host.permissionMode ?? 'default' } = options;
  const ceiling = new Ceiling({ ...options, permissionMode });
  // Of a client that names none, or takes its own back.
  const unnamed = stricterMode(host.permissionMode ?? 'default', permissionMode);
  const mode = unnamed === (host.permissionMode ?? 'default') ? undefined : unnamed;
  const operator = operatorOf && new OperatorView(host, operatorOf, warn);
  return {
    kind: 'host',
    agents: host.agents,
    approvals: servedApprovals(host, warn, operator),
    ...(operator ? { operator } : {}),
    ...(verify ? { verify } : {}),
    ...(rewind ? { rewind: rewinding(rewind) } : {}),
    ready: () => storeAnswers(() => host.sessions()),
    async open(agent, request, owner) {
      ceiling.mode(request.permissionMode);
      ceiling.state(request.state);
      if (request.snapshot) {
        const message = 'this server opens no snapshots of clients; their history would be taken for its own';
        throw new CoxswainError('PERMISSION_DENIED', 'E_CEILING', message);
      }
      const named = request.permissionMode ?? mode;
      const given = named === undefined ? request : { ...request, permissionMode: named };
      return host.open(agent, { ...given, ...owner });
    },
    async join(session, { permissionMode: named }, principal) {
      ceiling.mode(named);
      if (session instanceof HostedSession) await session.admit(principal, named ?? mode);
    },
    sessions: (who) => host.sessions(nameOfPrincipal(who)),
    input: inputBy,
    options: (given, principal) => ({ ...ceiling.stream(given), principal }),
    update: (config) => {
      const checked = ceiling.update(config);
      return checked.permissionMode === null && mode !== undefined ? { ...checked, permissionMode: mode } : checked;
    },
    answer: answerBy,
    steer: async (session, data, who) =>
      session instanceof HostedSession ? session.steerBy(data, who) : session.steer(data),
    assertResults: async (session, callIds) => {
      if (!(session instanceof HostedSession)) return;
      for (const callId of callIds) await assertClientRuns(session, callId);
    },
    assertRemovable: async (sessionId, who) => {
      const [agent] = host.agents;
      if (!agent || !mayBeSubagents(sessionId)) return;
      const open = (id: string) => host.open(agent.name, { sessionId: id, userId: nameOfPrincipal(who) });
      try {
        await using session = await open(sessionId);
        const caller = session instanceof HostedSession ? await callerOf(session) : undefined;
        if (caller && !caller.isOver) throw isSubagents(sessionId);
      } catch (error) {
        // The store has the word on that.
        if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return;
        // What it says of itself cannot be read: only where nothing can have called it is it known to be its owner's to remove.
        const isUnread = isCoxswainError(error) && error.status === 'DATA_LOSS';
        if (!isUnread || (await hasCaller(sessionId, open))) throw error;
      }
    },
  };
}

const rewinding =
  (rewind: Rewind): NonNullable<Served['rewind']> =>
  async (session, userId, through) => {
    // What a sub-agent has done is its caller's.
    if (session instanceof HostedSession && (await callerOf(session))) throw isSubagents(session.id);
    await rewind({ userId, sessionId: session.id }, through);
  };

/** Questions of one list, from the sessions that have waited longest: those behind them come up once these are decided. */
const MAX_LISTED = 1000;

function oldestFirst<T extends OpenApproval>(open: T[]): T[] {
  return open.sort((a, b) => a.request.requestedAt.localeCompare(b.request.requestedAt));
}

function servedApprovals(
  host: AgentHost,
  warn: (message: string, error?: unknown) => void,
  operator: OperatorView | undefined,
): ServedApprovals {
  return {
    async list(who, sessionId) {
      const within = sessionId === undefined ? {} : { sessionId };
      const list = () => host.approvals.list({ approver: who, limit: MAX_LISTED, ...within });
      return oldestFirst((await toldToOwner(list, who, warn)) ?? []);
    },

    async own(who, sessionId) {
      const within = { userId: nameOfPrincipal(who), ...(sessionId === undefined ? {} : { sessionId }) };
      const found: (OpenApproval & { whyNot: string })[] = [];
      // Those that they may answer themselves stand between: they are many, where one answer of a model has many calls.
      for (let after: string | undefined; ; ) {
        const page = await host.approvals.list({
          ...within,
          limit: MAX_LISTED,
          ...(after === undefined ? {} : { after }),
        });
        for (const one of page) {
          const whyNot = whyNotOpen(one, who);
          if (whyNot !== undefined && found.length < MAX_LISTED) found.push({ ...one, whyNot });
        }
        after = page.at(-1)?.cursor;
        if (page.length < MAX_LISTED || found.length >= MAX_LISTED || after === undefined) return oldestFirst(found);
      }
    },

    watch: (who, sessionId) =>
      host.approvals.watch({ approver: who, ...(sessionId === undefined ? {} : { sessionId }) }),

    changes: (who, sessionId) =>
      host.approvals.changes({ approver: who, ...(sessionId === undefined ? {} : { sessionId }) }),

    async outcome(who, requestId, place) {
      const find = () => host.approvals.outcome(requestId, { by: who, ...place });
      const found = await toldToOwner(find, who, warn, place.userId);
      if (!found) throw unknownRequest(requestId);
      return found;
    },

    async decided(who, filter) {
      const scope = operator?.scopeOf(who);
      return host.approvals.decided({
        ...filter,
        by: who,
        ...(scope ? { everybodys: scope.users ?? (true as const) } : {}),
      });
    },

    async explain(who, requestId, given, args) {
      const everything = operator?.seesContent(who, given.userId) === true;
      const place = operator && everything ? { ...given, agent: operator.opening(given.agent) } : given;
      const asking = { by: who, ...place, everything, ...(args ? { args } : {}) };
      const found = await toldToOwner(() => host.approvals.explain(requestId, asking), who, warn, place.userId);
      if (!found) throw unknownRequest(requestId);
      if (!operator || !everything || place.userId === nameOfPrincipal(who)) return found;
      // Who may answer it is shown all of it.
      const open = await host.approvals.find(requestId, place);
      if (open.some((one) => whyNotOpen(one, who) === undefined)) return found;
      return operator.explained(place, requestId, found);
    },

    async decide(who, requestId, place, given, hold, assertCurrent) {
      const answer = answerBy(given, who);
      const find = () => host.approvals.find(requestId, place);
      const found = (await toldToOwner(find, who, warn, place.userId)) ?? [];
      const theirs = found.filter((one) => whyNotOpen(one, who) === undefined);
      const open = onlyOne(theirs, requestId) ?? found[0];
      // Who may decide is known by the open question alone: the id of its call is none, nor is that of an older one.
      if (!open) throw unknownRequest(requestId);
      const why = whyNotOpen(open, who);
      if (why !== undefined) throw notApprover(requestId, who, why);
      // Opened where it is not: the run is this server's, which shows it, waits for it and does not delete it.
      const { channel, release } = await hold(open.agent, open.userId, open.request.sessionId);
      let isSettled = false;
      try {
        assertCurrent();
        const settlement = await channel.session.respond(requestId, answer);
        isSettled = settlement.status === 'settled';
        return settlement;
      } finally {
        void (isSettled ? goOnShown(channel, warn) : Promise.resolve()).then(release);
      }
    },
  };
}

function unknownRequest(requestId: string): CoxswainError {
  const message = `there is no open question ${JSON.stringify(requestId)}; approvals/list shows what is open`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST', message, { details: { requestId } });
}

/** A run belongs to the host: it goes on, whoever watches, and where watchers see it: its channel shows it. */
async function goOnShown(channel: Channel, warn: (message: string, error?: unknown) => void): Promise<void> {
  try {
    await channel.running;
    if (channel.session instanceof HostedSession) await goOn(channel.session);
  } catch (error) {
    warn(`session ${channel.session.id} could not continue after an approval`, error);
  }
}
