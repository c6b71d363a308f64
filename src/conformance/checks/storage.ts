import type { AgentEvent, StreamEndEvent } from '../../contracts/index.ts';
import { canonicalJson, isCoxswainError } from '../../contracts/index.ts';
import type { Probe, Requirement, RequirementCheck } from '../kit/index.ts';
import { Breach, json, Untestable } from '../kit/index.ts';

const tier = 'CAPABILITY';

async function stored(check: RequirementCheck, probe: Probe, after?: string): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  const read = async () => {
    for await (const event of probe.session.events(after === undefined ? {} : { after })) events.push(event);
  };
  await check.deadline.within(read(), 'the durable events');
  return events;
}

/** An event without what belongs to the stream that showed it; what an end sums up has a requirement of its own. */
function comparable({ streamId: _, ...event }: AgentEvent): unknown {
  const rest = event.type === 'stream_end' ? { ...event, data: undefined } : event;
  return JSON.parse(canonicalJson(rest));
}

const idsOf = (events: readonly AgentEvent[]) => events.map(({ id }) => id);

export const storage: readonly Requirement[] = [
  {
    id: 'CX-RESUME-01',
    title: 'what was durable in a stream is read back, in order and unchanged',
    tier,
    capability: 'resume',
    cites: 'AgentSession.events',
    async check(check) {
      const probe = await check.open();
      const live = await probe.sayTo('completed', 'cx: words 5');
      const durable = live.events.filter(({ cursor }) => cursor !== undefined);
      const known = new Map((await stored(check, probe)).map((event) => [event.id, event]));
      check.that(durable.length > 0, 'durable events', live.summary);
      for (const event of durable) {
        const kept = known.get(event.id);
        check.equal(kept && comparable(kept), comparable(event), `the stored ${event.type}`);
      }
    },
  },
  {
    id: 'CX-RESUME-02',
    title: 'from every cursor on comes the rest, nothing lost and nothing twice',
    tier,
    capability: 'resume',
    cites: 'AgentSession.events: after',
    async check(check) {
      const probe = await check.open();
      await probe.sayTo('completed', 'cx: say one');
      await probe.sayTo('completed', 'cx: say two');
      const all = await stored(check, probe);
      for (const [index, { cursor }] of all.entries()) {
        if (cursor === undefined) continue;
        check.equal(
          idsOf(await stored(check, probe, cursor)),
          idsOf(all.slice(index + 1)),
          `the events after ${cursor}`,
        );
      }
    },
  },
  {
    id: 'CX-RESUME-03',
    title: 'another handle of the session finds what is open and finishes it',
    tier,
    capability: 'resume',
    cites: 'AgentSession.pending: survives a restart',
    async check(check) {
      const probe = await check.open();
      check.needs(probe, 'host_tool_execution');
      const { ids } = await probe.ask('cx: call echo {}', ['echo']);
      await probe.close();
      const again = await check.open({ sessionId: probe.id });
      const open = (await again.pending()).map(({ requestId, name }) => [requestId, name]);
      check.equal(open, [[ids[0], 'echo']], 'what is open');
      const rest = await again.sayTo('completed', again.answer(String(ids[0]), 'after the break'));
      check.that(rest.text.includes('after the break'), 'an agent that repeats the result', rest.text);
    },
  },
  {
    id: 'CX-RESUME-04',
    title: 'an unknown session id is an error, not a new session',
    tier,
    capability: 'resume',
    cites: 'SessionRef.create',
    async check(check) {
      const error = await check.refused(() => check.open({ sessionId: 'no-such-session' }), 'an unknown session');
      check.equal([error.status, error.code], ['NOT_FOUND', 'E_SESSION_NOT_FOUND'], 'status and code');
    },
  },
  {
    id: 'CX-RESUME-05',
    title: 'a stream_end that is read back says what it said, whatever came after it',
    tier,
    capability: 'resume',
    cites: 'Every stream_end carries data.usage, data.steps; emitted events never change later',
    async check(check) {
      const probe = await check.open();
      const ends = [
        await probe.sayTo('completed', 'cx: usage 10 5\ncx: say kept'),
        await probe.sayTo('failed', 'cx: fail for good'),
        await probe.sayTo('completed', 'cx: usage 1 2\ncx: say kept, too'),
      ].map(({ end }) => end);
      const kept = new Map((await stored(check, probe)).map((event) => [event.id, event]));
      for (const { id, reason, data } of ends) {
        const again = kept.get(id);
        if (again?.type !== 'stream_end') throw new Breach('a stored stream_end', json(again));
        const { data: told } = again as StreamEndEvent;
        check.equal(canonicalJson(told), canonicalJson(data), `the data of the stored end that says ${reason}`);
      }
    },
  },
  {
    id: 'CX-RESUME-06',
    title: 'a session that watches sees what is durable as it happens',
    tier,
    capability: 'resume',
    cites: 'AgentSession.events: live',
    async check(check) {
      const probe = await check.open();
      const watch = probe.session.events({ live: true })[Symbol.asyncIterator]();
      const seen: string[] = [];
      const read = async () => {
        for (let next = await watch.next(); !next.done; next = await watch.next()) {
          seen.push(next.value.id);
          if (next.value.type === 'stream_end') break;
        }
        await watch.return?.();
      };
      const reading = read().catch((error: unknown) => {
        // The executor profile has no such request: a host at the end of a pipe hears of its own streams alone.
        if (isCoxswainError(error) && error.code === 'E_UNSUPPORTED') throw new Untestable('it reports nothing live');
        throw error;
      });
      // Waited for below; the stream may be what fails.
      reading.catch(() => {});
      const live = await probe.sayTo('completed', 'cx: say watched');
      await check.deadline.within(reading, 'the end of the stream, live');
      const durable = live.events.filter(({ cursor }) => cursor !== undefined);
      check.equal(seen, idsOf(durable), 'the durable events');
    },
  },
  {
    id: 'CX-RESUME-07',
    title: 'an executor that is killed between a request and its result finds it again, and continues once',
    tier,
    capability: 'resume',
    cites: 'AgentSession.pending: survives a restart; a crash between request and result neither loses nor re-runs',
    async check(check) {
      const probe = await check.open();
      check.needs(probe, 'host_tool_execution');
      const { ids } = await probe.ask('cx: call echo {"n":1}\ncx: call add {"a":1,"b":2}', ['echo', 'add']);
      const [first = '', second = ''] = ids;
      await probe.giveResult(first, 'before the crash');
      await check.crash();
      const again = await check.open({ sessionId: probe.id });
      const open = (await again.pending()).map(({ requestId, name }) => [requestId, name]);
      check.equal(open, [[second, 'add']], 'what is open after the crash');
      const rest = await again.sayTo('completed', again.answer(second, 'after the crash'));
      const both = /before the crash[\s\S]*after the crash/.test(rest.text);
      check.that(both, 'an agent that repeats both results', rest.text);
      for (const id of ids) {
        check.equal((await again.answersTo('tool_response', id)).length, 1, `tool_response events of ${id}`);
      }
    },
  },
  {
    id: 'CX-FENCE-01',
    title: 'of two that open one session one runs at a time, and each sees what the other did',
    tier,
    capability: 'resume',
    cites: 'One live stream a session, over all processes',
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      const other = await check.open({ sessionId: probe.id }, await check.another());
      const second = () => other.session.stream('cx: say me too').next();
      const error = await check.refused(second, 'a second stream of the session');
      check.equal(error.code, 'E_SESSION_BUSY', 'the code');
      await probe.abort();
      await live.ended();
      await other.sayTo('completed', 'cx: say from the second');
      const back = await probe.sayTo('completed', 'cx: recall');
      check.that(back.text.includes('from the second'), 'a first that sees what the second did', back.text);
      check.that(!back.text.includes('me too'), 'nothing of a refused input', back.text);
    },
  },
  {
    id: 'CX-FORK-01',
    title: 'a fork shares what was, and neither sees what the other does next',
    tier,
    capability: 'fork',
    cites: 'SessionRef.fork',
    async check(check) {
      const probe = await check.open();
      await probe.sayTo('completed', 'cx: say common');
      const copy = await check.open({ sessionId: probe.id, fork: true });
      check.that(copy.id !== probe.id, 'a fork with an id of its own', copy.id);
      await copy.sayTo('completed', 'cx: say only-in-copy');
      await probe.sayTo('completed', 'cx: say only-in-original');
      const [original, forked] = [await probe.say('cx: recall'), await copy.say('cx: recall')];
      check.that(forked.text.includes('common'), 'a fork that knows what was', forked.text);
      check.that(!forked.text.includes('only-in-original'), 'a fork without what came later', forked.text);
      check.that(!original.text.includes('only-in-copy'), 'an original without what the fork did', original.text);
    },
  },
];
