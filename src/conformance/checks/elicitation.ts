import type { Check } from '../check.ts';
import type { Probe } from '../probe.ts';
import type { Requirement } from '../requirement.ts';
import { Breach } from '../requirement.ts';

const tier = 'CAPABILITY';
const capability = 'elicitation';
const cites = 'elicitation_request, elicitation_response';

const ASK = 'cx: ask {"message":"Which way?"}\ncx: say decided';

/** A turn that waits for a person. */
async function question(check: Check): Promise<{ probe: Probe; id: string }> {
  const probe = await check.open();
  let live = await probe.sayTo('input_required', ASK);
  // An agent that asks from inside a tool of its own needs a word of the host before it.
  const own = live.pending.filter(({ kind, handledBy }) => kind === 'tool' && handledBy === 'agent');
  if (own.length > 0 && live.ofType('elicitation_request').length === 0) {
    for (const { requestId } of own) await probe.respond(requestId, { kind: 'approve', by: { id: 'kit' } });
    live = await probe.sayTo('input_required', { kind: 'continue' });
  }
  const [request, ...more] = live.ofType('elicitation_request');
  if (!request || more.length > 0) throw new Breach('one elicitation_request', live.summary);
  check.that(request.message.includes('Which way?'), 'the words of the question', request.message);
  const listed = live.pending.filter(({ requestId }) => requestId === request.requestId).map(({ kind }) => kind);
  check.equal(listed, ['elicitation'], 'the question in data.pending');
  return { probe, id: request.requestId };
}

function answered(action: 'accept' | 'decline' | 'cancel', number: number): Requirement {
  return {
    id: `CX-ELIC-0${number}`,
    title: `a question that is answered with ${action} says so and lets the turn go on`,
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

export const elicitation: readonly Requirement[] = [
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
];
