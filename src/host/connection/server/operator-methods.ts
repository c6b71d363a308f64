import { CoxswainError } from '../../../contracts/index.ts';
import type { OperatorView } from '../../operator/index.ts';
import { pageOf } from '../stream/index.ts';
import type { Caller, Handlers } from './caller.ts';

/** Sessions of one answer, unless another number is asked for, and events. */
const PAGE = 100;
const EVENTS = 200;

/** For people who look after sessions of others. */
export const operatorMethods: Handlers<'operator/sessions' | 'operator/events' | 'operator/artifact'> = {
  'operator/sessions': async (connection, { limit = PAGE, ...query }) =>
    operatorOf(connection).list(connection.principal, { ...query, limit }),

  'operator/events': async (connection, { agent, userId, sessionId, after, limit = EVENTS }) => {
    const { maxPayload } = connection.hub.options.limits;
    const asked = { after, limit: limit + 1 };
    const found = await operatorOf(connection).events(connection.principal, { agent, userId, sessionId }, asked);
    const page = pageOf(maxPayload);
    for (const event of found) if (page.length >= limit || !page.add(event)) return page.cut();
    return page;
  },

  'operator/artifact': (connection, { agent, userId, sessionId, name, version }) => {
    const { maxPayload } = connection.hub.options.limits;
    const place = { agent, userId, sessionId };
    return operatorOf(connection).artifact(connection.principal, place, { name, version, maxPayload });
  },
};

function operatorOf({ hub, principal }: Caller): OperatorView {
  if (hub.served.operator) return hub.served.operator;
  const message = `${principal.id} is no operator: this server has none`;
  throw new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', message);
}
