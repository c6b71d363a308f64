import type { RequestAnswer } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import type { OpenApproval } from '../../approvals/index.ts';
import { timeGiven } from '../../operator/index.ts';
import { fittingQuestion } from '../protocol/index.ts';
import type { Caller, Handlers } from './caller.ts';
import type { ServedApprovals } from './served.ts';

const watching = new WeakMap<Caller, () => void>();

/** For people who hold no session. */
export const approvalMethods: Handlers<
  | 'approvals/list'
  | 'approvals/watch'
  | 'approvals/decided'
  | 'approvals/outcome'
  | 'approvals/explain'
  | 'approvals/decide'
> = {
  'approvals/list': async (connection, { sessionId, own }) => {
    const { principal } = connection;
    const open = own
      ? await approvals(connection).own(principal, sessionId)
      : await approvals(connection).list(principal, sessionId);
    return { approvals: fitting(open, connection.hub.options.limits.maxPayload / 2) };
  },

  'approvals/watch': (connection, { sessionId, stop }) => {
    watching.get(connection)?.();
    watching.delete(connection);
    if (stop) return {};
    const questions = approvals(connection).watch(connection.principal, sessionId);
    const changes = approvals(connection).changes(connection.principal, sessionId);
    const over = () => {
      void questions.return?.();
      void changes.return?.();
    };
    const forget = connection.atEnd(over);
    watching.set(connection, () => {
      forget();
      over();
    });
    void tell(connection, questions, (approval) => {
      const { maxPayload } = connection.hub.options.limits;
      connection.notify('approvals/open', { approval: fittingQuestion(approval, maxPayload / 2) });
    });
    void tell(connection, changes, (question) => connection.notify('approvals/changed', { question }));
    // A client of a server that does not say so has to list again by itself.
    return { changes: true };
  },

  'approvals/outcome': (connection, { requestId, sessionId, userId, agent }) =>
    approvals(connection).outcome(connection.principal, requestId, { sessionId, userId, agent }),

  'approvals/decided': async (connection, { user, agent, action, tool, by, since, before, search, limit, after }) => {
    const filter = {
      ...(user === undefined ? {} : { userId: user }),
      ...(agent === undefined ? {} : { agent }),
      ...(action === undefined ? {} : { action }),
      ...(tool === undefined ? {} : { tool }),
      ...(by === undefined ? {} : { answeredBy: by }),
      ...(since === undefined ? {} : { since: timeGiven('since', since) }),
      ...(before === undefined ? {} : { before: timeGiven('before', before) }),
      ...(search === undefined ? {} : { search }),
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    };
    const page = await approvals(connection).decided(connection.principal, filter);
    return { ...page };
  },

  'approvals/explain': (connection, { requestId, sessionId, userId, agent, args }) =>
    approvals(connection).explain(connection.principal, requestId, { sessionId, userId, agent }, args),

  'approvals/decide': (connection, { requestId, answer, ...place }) => {
    const { hub, principal } = connection;
    const hold = async (agent: string, userId: string, sessionId: string) => {
      const channel = await hub.keep(agent, userId, sessionId);
      // Until the run goes on.
      const over = Promise.withResolvers<void>();
      void hub.during(over.promise);
      const release = () => {
        hub.release(channel);
        over.resolve();
      };
      return { channel, release };
    };
    const assertCurrent = () => connection.assertCurrent();
    return hub.during(
      approvals(connection).decide(principal, requestId, place, answer as RequestAnswer, hold, assertCurrent),
    );
  },
};

async function tell<T>(connection: Caller, told: AsyncIterable<T>, notify: (one: T) => void): Promise<void> {
  try {
    for await (const one of told) {
      await connection.room();
      if (connection.isClosed) return;
      notify(one);
    }
  } catch (error) {
    connection.hub.options.warn('open questions could not be watched', error);
    // It would wait for what never comes.
    connection.slow();
  }
}

/** The oldest ones that fit into one answer: those behind them come up once these are decided. */
function fitting<T extends OpenApproval>(questions: readonly T[], maxBytes: number): T[] {
  const shown: T[] = [];
  let left = maxBytes;
  for (const question of questions) {
    const small = fittingQuestion(question, maxBytes);
    left -= Buffer.byteLength(JSON.stringify(small));
    if (left < 0 && shown.length > 0) break;
    shown.push(small);
  }
  return shown;
}

function approvals({ hub }: Caller): ServedApprovals {
  if (hub.served.approvals) return hub.served.approvals;
  throw new CoxswainError(
    'UNIMPLEMENTED',
    'E_UNSUPPORTED',
    'this server serves bare executors; approvals are with its client',
  );
}
