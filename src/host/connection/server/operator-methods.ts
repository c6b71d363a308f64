import { CoxswainError } from '../../../contracts/index.ts';
import type { OperatorView } from '../../operator/index.ts';
import { fittingEvent } from '../protocol/index.ts';
import type { Caller, Handlers } from './caller.ts';

/** Sessions of one answer, unless another number is asked for, and events. */
const PAGE = 100;
const EVENTS = 200;
/** Bytes of a page: it has to get through a slow line before it counts as stuck. */
const PAGE_BYTES = 512 * 1024;

/** For people who look after sessions of others. */
export const operatorMethods: Handlers<'operator/sessions' | 'operator/events'> = {
  'operator/sessions': async (connection, { agent, user, state, search, limit = PAGE, after }) =>
    operatorOf(connection).list(connection.principal, { agent, user, state, search, limit, after }),

  'operator/events': async (connection, { agent, userId, sessionId, after, limit = EVENTS }) => {
    const { maxPayload } = connection.hub.options.limits;
    const asked = { after, limit: limit + 1 };
    const found = await operatorOf(connection).events(connection.principal, { agent, userId, sessionId }, asked);
    const events: typeof found = [];
    let bytes = 0;
    for (const event of found) {
      const { event: fitting, size } = fittingEvent(event, maxPayload / 2);
      if (events.length >= limit || (events.length > 0 && bytes + size > Math.min(PAGE_BYTES, maxPayload / 2)))
        return { events, more: true };
      events.push(fitting);
      bytes += size;
    }
    return { events, more: false };
  },
};

function operatorOf({ hub, principal }: Caller): OperatorView {
  if (hub.served.operator) return hub.served.operator;
  const message = `${principal.id} is no operator: this server has none`;
  throw new CoxswainError('PERMISSION_DENIED', 'E_FORBIDDEN', message);
}
