import type { Probe, Requirement, RequirementCheck } from '../kit/index.ts';
import { Breach, json } from '../kit/index.ts';
import { DECOY_KEY, OPAQUE_STATE } from '../model-server/index.ts';

const tier = 'CAPABILITY';
const capability = 'model_server';
const cites = 'Errors: provider failure is typed, session usable, no secret in the message';

/** A fault that ends a turn as failed, and leaves the session as it was. */
function failing(id: string, title: string, faults: Readonly<Record<string, unknown>>): Requirement {
  return {
    id,
    title,
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      for (const [what, fault] of Object.entries(faults)) {
        const live = await probe.say(`cx: say one two three four five six\ncx: fault ${JSON.stringify(fault)}`);
        if (live.reason !== 'failed') throw new Breach(`${what}: a stream that ends failed`, live.summary);
        const [error] = live.ofType('error').filter(({ fatal }) => fatal);
        if (!error) throw new Breach(`${what}: an error event`, live.summary);
        check.that(/^E_[A-Z0-9_]+$/.test(error.code), `${what}: a stable code`, error.code);
        check.that(!json(live.events).includes(DECOY_KEY), `${what}: no key in any event`, 'the key is shown');
      }
      const next = await probe.sayTo('completed', 'cx: say still usable');
      check.equal(next.text, 'still usable', 'the words of the next turn');
    },
  };
}

/** Without tools of a host there is nothing to be asked for. */
async function withTools(check: RequirementCheck): Promise<Probe> {
  const probe = await check.open();
  check.needs(probe, 'host_tool_execution');
  return probe;
}

const noRetry = { headers: { 'x-should-retry': 'false' } };

export const model: readonly Requirement[] = [
  failing('CX-MODEL-01', 'an answer that is cut off, or breaks in the middle, fails the turn alone', {
    'a connection that is cut': { cutAfterBytes: 200 },
    'an error in mid-stream': { midStream: true },
  }),
  failing('CX-MODEL-02', 'a provider that refuses or fails fails the turn alone', {
    'too many requests': { status: 429, ...noRetry },
    'a failing server': { status: 500, ...noRetry },
    'a bad key': { status: 401, ...noRetry },
  }),
  {
    id: 'CX-MODEL-03',
    title: 'arguments that are no JSON are never asked of the host',
    tier,
    capability,
    cites: 'Tools: args complete and valid at request time',
    async check(check) {
      const probe = await withTools(check);
      const live = await probe.say('cx: fault {"malformedArgs":true}\ncx: call echo {"a":1}\ncx: say I see');
      if (live.reason === 'input_required') throw new Breach('a call that is not asked of the host', live.summary);
      await probe.sayTo('completed', 'cx: say still usable');
    },
  },
  {
    id: 'CX-MODEL-04',
    title: 'a call of an answer that was cut by its length is not run',
    tier,
    capability,
    cites: 'Tools: length-cut turns run nothing',
    async check(check) {
      const probe = await withTools(check);
      const live = await probe.say('cx: finish length\ncx: call echo {"a":1}\ncx: say I see');
      if (live.reason === 'input_required') throw new Breach('a call that is not asked of the host', live.summary);
      await probe.sayTo('completed', 'cx: say still usable');
    },
  },
  {
    id: 'CX-MODEL-05',
    title: 'every call has its result, and what the provider keeps on its answers goes back with them',
    tier,
    capability,
    cites: 'Opaque provider state round-trips byte for byte',
    async check(check) {
      const probe = await withTools(check);
      const { ids } = await probe.ask('cx: think hard\ncx: call echo {}\ncx: call add {"a":1,"b":2}', ['echo', 'add']);
      const before = check.models.requests.length;
      await probe.sayTo(
        'completed',
        ids.map((id) => probe.answer(id, 'fine')),
      );
      const request = check.models.requests[before];
      if (!request) throw new Breach('a second request to the model', 'none');
      const asked = request.conversation.flatMap((entry) => (entry.role === 'agent' ? (entry.calls ?? []) : []));
      const told = request.conversation.flatMap((entry) => (entry.role === 'tool' ? [entry.callId] : []));
      check.equal(told, asked.map(({ id }) => id).slice(-told.length), 'calls with a result');
      check.equal(told.length, 2, 'the number of results');
      if (request.dialect === 'openai-chat') return 'this dialect keeps nothing on its answers';
      const isBack = json(request.body).includes(OPAQUE_STATE);
      check.that(isBack, 'the signature of the thought, byte for byte', json(request.body).slice(0, 300));
      return undefined;
    },
  },
  {
    id: 'CX-MODEL-06',
    title: 'a provider that leaves out ids, indexes or the finish does no harm',
    tier,
    capability,
    cites: 'Hostile input is an error, never a crash',
    async check(check) {
      const probe = await withTools(check);
      for (const missing of ['id', 'index', 'finish']) {
        const live = await probe.say(`cx: fault {"missing":["${missing}"]}\ncx: call echo {"a":1}\ncx: say done`);
        if (live.reason === 'failed') continue;
        const { requests } = live;
        check.equal(
          requests.map(({ args }) => args),
          requests.length > 0 ? [{ a: 1 }] : [],
          `without ${missing}: the call, whole`,
        );
      }
      await probe.sayTo('completed', 'cx: say unharmed');
    },
  },
];
