import type { Requirement } from '../kit/index.ts';
import { json } from '../kit/index.ts';
import { schemaFault } from './schema-fault.ts';

const tier = 'MANDATORY';
const cites = 'AgentSession: how an agent runs';

export const lifecycle: readonly Requirement[] = [
  {
    id: 'CX-LIFE-01',
    title: 'the descriptor fits its schema and survives JSON',
    tier,
    cites: 'AgentDescriptor: what an agent is',
    async check(check) {
      const { agentDescriptor } = await import('../../contracts/schemas/index.ts');
      const { session } = await check.open();
      const parsed = agentDescriptor.safeParse(session.descriptor);
      check.that(parsed.success, 'a descriptor that fits its schema', schemaFault('descriptor', parsed.error?.issues));
      check.equal(JSON.parse(json(session.descriptor)), session.descriptor, 'a descriptor read back from JSON');
      check.that(session.id !== '', 'a session with an id', 'an empty id');
    },
  },
  {
    id: 'CX-LIFE-02',
    title: 'two sessions share nothing',
    tier,
    cites,
    async check(check) {
      const [one, other] = [await check.open(), await check.open()];
      check.that(one.id !== other.id, 'two sessions with ids of their own', one.id);
      await one.sayTo('completed', 'cx: say a secret of the first');
      const said = await other.sayTo('completed', 'cx: recall');
      check.that(!said.text.includes('secret'), 'a session that knows nothing of the other', said.text);
      const back = await one.sayTo('completed', 'cx: recall');
      check.that(back.text.includes('secret'), 'a session that knows its own earlier turn', back.text);
    },
  },
  {
    id: 'CX-LIFE-03',
    title: 'a stream that nobody iterates does nothing',
    tier,
    cites: 'AgentSession.stream: lazy',
    async check(check) {
      const probe = await check.open();
      check.transcript.sent('stream, never iterated', 'cx: say unheard');
      probe.session.stream('cx: say unheard');
      const said = await probe.sayTo('completed', 'cx: recall');
      check.that(!said.text.includes('unheard'), 'nothing of a stream that was never begun', said.text);
    },
  },
  {
    id: 'CX-LIFE-04',
    title: 'leaving the loop early ends the stream; the next one shows nothing of it',
    tier,
    cites: 'AgentStream: leaving a for await aborts it',
    async check(check) {
      const probe = await check.open();
      check.transcript.sent('stream, left at its first event', 'cx: wait');
      const left = probe.session.stream('cx: wait');
      await check.deadline.within(left.next(), 'a first event');
      await check.deadline.within(Promise.resolve(left.return?.()), 'a stream that is left to end');
      const next = await probe.sayTo('completed', 'cx: say after');
      check.equal(next.text, 'after', 'the words of the next stream');
      const stale = next.events.filter(({ streamId }) => streamId === left.streamId);
      check.equal(stale.length, 0, 'events of the stream that was left');
    },
  },
  {
    id: 'CX-LIFE-05',
    title: 'closing twice is fine; using a closed session is a typed error',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      await probe.sayTo('completed', 'cx: say hello');
      await probe.close();
      await probe.close();
      const error = await check.refused(() => probe.session.stream('cx: say more').next(), 'a stream after close');
      check.equal(error.code, 'E_SESSION_CLOSED', 'the code');
    },
  },
  {
    id: 'CX-LIFE-06',
    title: 'closing ends the stream that runs',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      await probe.close();
      await live.settled();
      const last = live.events.at(-1);
      check.that(last?.type !== 'stream_end' || last.reason === 'aborted', 'a stream that ends aborted', live.summary);
    },
  },
];
