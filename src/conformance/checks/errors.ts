import { isCoxswainError } from '../../contracts/index.ts';
import type { Requirement } from '../kit/index.ts';
import { Breach } from '../kit/index.ts';
import { DECOY_KEY } from '../model-server/index.ts';

const tier = 'MANDATORY';
const cites = 'Errors';

const hostile: readonly [string, string][] = [
  ['a lone surrogate', 'cx: say ok\n\ud800'],
  ['control characters', 'cx: say ok\n\u0000\u0007\u001b[31m'],
  ['keys that are prototypes', 'cx: say ok\n{"__proto__":{"x":1},"constructor":{"prototype":{}}}'],
  ['half a megabyte', `cx: say ok\n${'x'.repeat(512 * 1024)}`],
  ['line separators', 'cx: say ok\n\u2028\u2029\u0085\r'],
];

export const errors: readonly Requirement[] = [
  {
    id: 'CX-ERR-01',
    title: 'a failing model is a typed fatal error, and the session stays usable',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      const live = await probe.sayTo('failed', 'cx: fail the model is down');
      const [error] = live.ofType('error').filter(({ fatal }) => fatal);
      if (error === undefined) throw new Breach('an error event', live.summary);
      check.that(/^E_[A-Z0-9_]+$/.test(error.code), 'a stable code', error.code);
      check.that(/^[A-Z_]+$/.test(error.status), 'a google.rpc status', error.status);
      check.that(error.message !== '', 'a message', 'none');
      const next = await probe.sayTo('completed', 'cx: say back again');
      check.equal(next.text, 'back again', 'the words of the next turn');
    },
  },
  {
    id: 'CX-ERR-02',
    title: 'no key is shown in any event, refusal or descriptor',
    tier,
    cites: 'No secrets in events and errors',
    async check(check) {
      const probe = await check.open();
      await probe.say('cx: fail with details');
      await probe.say('cx: say fine');
      if (probe.can('host_tool_execution')) {
        const { ids } = await probe.ask('cx: call echo {"a":1}', ['echo']);
        await probe.say(probe.answer(String(ids[0]), 'done'));
      }
      const shown = [...probe.streams.flatMap(({ events }) => events), ...(await probe.stored())];
      const leaks = shown.filter((event) => JSON.stringify(event).includes(DECOY_KEY)).map(({ type }) => type);
      check.equal(leaks, [], 'events that show the key');
      // Whether it is refused is another requirement's business.
      const { thrown } = await probe.begin({ kind: 'continue' }).settled();
      const refusal = isCoxswainError(thrown?.reason) ? [thrown.reason.message, thrown.reason.details] : [];
      const told = JSON.stringify([refusal, probe.session.descriptor]);
      check.that(!told.includes(DECOY_KEY), 'no key in a refusal or the descriptor', 'it is there');
    },
  },
  {
    id: 'CX-ERR-03',
    title: 'hostile text is taken or refused with a typed error, and harms nothing',
    tier,
    cites: 'Hostile input is an error, never a crash',
    async check(check) {
      const probe = await check.open();
      for (const [what, text] of hostile) {
        const live = await probe.begin(text).settled();
        if (live.thrown && live.events.length === 0)
          await check.refused(() => Promise.reject(live.thrown?.reason), what);
        else check.that(['completed', 'failed'].includes(live.reason), `${what} to be taken or refused`, live.summary);
      }
      const next = await probe.sayTo('completed', 'cx: say unharmed');
      check.equal(next.text, 'unharmed', 'the words afterwards');
    },
  },
  {
    id: 'CX-ERR-04',
    title: 'results of hostile shape reach the agent or are refused, and harm nothing',
    tier: 'CAPABILITY',
    capability: 'host_tool_execution',
    cites: 'Hostile input is an error, never a crash',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {"__proto__":{"polluted":true},"n":1}', ['echo']);
      let deep: unknown = 'bottom';
      for (let level = 0; level < 5_000; level++) deep = [deep];
      const id = String(ids[0]);
      const bad = { kind: 'tool_result', requestId: id, result: { content: 'not parts', structuredContent: deep } };
      await check.refused(() => probe.session.stream(bad as never).next(), 'a result that is none');
      await probe.sayTo('completed', probe.answer(id, 'good after all'));
      check.that(({} as { polluted?: unknown }).polluted === undefined, 'prototypes that stay clean', 'polluted');
    },
  },
];
