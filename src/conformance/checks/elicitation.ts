import type { EventOf, Input, Probe, Requirement, RequirementCheck } from '../kit/index.ts';
import { Breach, json, Untestable } from '../kit/index.ts';
import { answerStatus, isClosed } from './answers.ts';

const tier = 'CAPABILITY';
const capability = 'elicitation';
const cites = 'elicitation_request, elicitation_response';

/** What a person hands over in answer to a question; it belongs in no event. */
const HANDED_OVER = 'cx-handed-over-71d0e4';

/** A turn that waits for a person. */
async function question(
  check: RequirementCheck,
  how: { kind?: string; expiresInMs?: number } = {},
): Promise<{ probe: Probe; id: string; request: EventOf<'elicitation_request'> }> {
  const probe = await check.open();
  const asks = `cx: ask ${JSON.stringify({ message: 'Which way?', ...how })}\ncx: say decided`;
  // One that expires may be over before its stream is.
  const waiting = (input: Input) =>
    how.expiresInMs === undefined ? probe.sayTo('input_required', input) : probe.say(input);
  let live = await waiting(asks);
  // An agent that asks from inside a tool of its own needs a word of the host before it.
  const own = live.pending.filter(({ kind, handledBy }) => kind === 'tool' && handledBy === 'agent');
  if (own.length > 0 && live.ofType('elicitation_request').length === 0) {
    for (const { requestId } of own) await probe.respond(requestId, { kind: 'approve', by: { id: 'kit' } });
    live = await waiting({ kind: 'continue' });
  }
  const [request, ...more] = live.ofType('elicitation_request');
  if (!request || more.length > 0) throw new Breach('one elicitation_request', live.summary);
  check.that(request.message.includes('Which way?'), 'the words of the question', request.message);
  const listed = live.pending.filter(({ requestId }) => requestId === request.requestId).map(({ kind }) => kind);
  const isOver = how.expiresInMs !== undefined && live.reason === 'completed';
  if (!isOver) check.equal(listed, ['elicitation'], 'the question in data.pending');
  return { probe, id: request.requestId, request };
}

function answered(action: 'accept' | 'decline' | 'cancel', number: number): Requirement {
  return {
    id: `CX-ELIC-0${number}`,
    title: `a question that is answered with ${action} says so and lets the turn continue`,
    tier,
    capability,
    cites,
    async check(check) {
      const { probe, id } = await question(check);
      await probe.respond(id, { kind: 'elicitation', action, ...(action === 'accept' ? { content: {} } : {}) });
      const rest = await probe.say({ kind: 'continue' });
      const shown = (await probe.answersTo('elicitation_response', id)).map(({ action: told }) => told);
      check.equal(shown, [action], 'the action of the elicitation_response');
      check.that(rest.reason === 'completed', 'a turn that completes', rest.summary);
    },
  };
}

export const elicitationRequirements: readonly Requirement[] = [
  answered('accept', 1),
  answered('decline', 2),
  answered('cancel', 3),
  {
    id: 'CX-ELIC-04',
    title: 'an answer of the wrong kind is refused and the question stays open',
    tier,
    capability,
    cites: 'Wrong kind: FAILED_PRECONDITION, nothing stored',
    async check(check) {
      const { probe, id } = await question(check);
      const wrong = { kind: 'elicitation', action: 'perhaps' } as never;
      await check.refused(() => probe.session.respond(id, wrong), 'an answer that is none');
      const open = (await probe.pending()).some(({ requestId }) => requestId === id);
      check.that(open, 'a question that is still open', 'it is gone');
    },
  },
  {
    id: 'CX-ELIC-05',
    title: 'a credential that answers a question is shown and stored nowhere',
    tier,
    capability,
    cites: 'elicitation_response: content, never a secret',
    async check(check) {
      const { probe, id, request } = await question(check, { kind: 'auth_required' });
      if (request.kind !== 'auth_required') throw new Untestable('it asks for no credentials');
      const content = { credential: HANDED_OVER };
      await probe.respond(id, { kind: 'elicitation', action: 'accept', content });
      await probe.sayTo('completed', { kind: 'continue' });
      const shown = [...probe.streams.flatMap(({ events }) => events), ...(await probe.stored())];
      const leaks = shown.filter((event) => json(event).includes(HANDED_OVER)).map(({ type }) => type);
      check.equal(leaks, [], 'events that show the credential');
    },
  },
  {
    id: 'CX-ELIC-06',
    title: 'a question that nobody answers in time is no yes, and a late answer changes nothing',
    tier,
    capability,
    cites: 'Approvals expire to deny; elicitation_request: expiresAt',
    async check(check) {
      const { probe, id, request } = await question(check, { expiresInMs: 100 });
      const { expiresAt } = request;
      if (expiresAt === undefined) throw new Untestable('its questions do not expire');
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Date.parse(expiresAt) - Date.now() + 10)));
      const late = await answerStatus(probe.respond(id, { kind: 'elicitation', action: 'accept', content: {} }));
      check.that(isClosed(late), 'a late answer that changes nothing', late);
      if (probe.streams.at(-1)?.reason !== 'completed') await probe.sayTo('completed', { kind: 'continue' });
      const said = (await probe.answersTo('elicitation_response', id)).map(({ action }) => action);
      check.that(!said.includes('accept'), 'no elicitation_response that accepts', said);
      check.that(
        !(await probe.pending()).some(({ requestId }) => requestId === id),
        'nothing open',
        'it is still open',
      );
    },
  },
];
