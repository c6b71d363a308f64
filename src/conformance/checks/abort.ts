import type { Requirement } from '../kit/index.ts';
import { answerStatus, isClosed } from './answers.ts';

const tier = 'MANDATORY';
const cites = 'AgentSession.abort';

export const abort: readonly Requirement[] = [
  {
    id: 'CX-ABORT-01',
    title: 'an aborted stream ends aborted, not failed and not completed',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      await probe.abort({ reason: 'changed my mind' });
      await live.ended();
      check.equal(live.reason, 'aborted', 'the end');
      check.equal(live.ofType('error').filter(({ fatal }) => fatal).length, 0, 'fatal errors');
    },
  },
  {
    id: 'CX-ABORT-02',
    title: 'aborting when nothing runs, or twice, does nothing',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      await probe.abort();
      await probe.sayTo('completed', 'cx: say first');
      await probe.abort();
      await probe.abort();
      const next = await probe.sayTo('completed', 'cx: say second');
      check.equal(next.text, 'second', 'the words after an idle abort');
    },
  },
  {
    id: 'CX-ABORT-03',
    title: 'the stream after an abort is clean',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      await probe.abort();
      const next = await probe.sayTo('completed', 'cx: say clean');
      await live.ended();
      check.equal(next.text, 'clean', 'the words of the next stream');
      const stale = next.events.filter(({ streamId }) => streamId === live.stream.streamId);
      check.equal(stale.length, 0, 'events of the aborted stream');
    },
  },
  {
    id: 'CX-ABORT-04',
    title: 'the stream itself and the signal of its options abort as well',
    tier,
    cites: 'AgentStream.abort; ExecutionOptions.signal',
    async check(check) {
      const probe = await check.open();
      const one = probe.begin('cx: wait');
      await one.seen('initialize');
      check.transcript.sent('abort of the stream');
      await check.deadline.within(one.stream.abort('enough'), 'an aborted stream');
      await one.ended();
      check.equal(one.reason, 'aborted', 'the end after stream.abort()');
      const controller = new AbortController();
      const two = probe.begin('cx: wait', { signal: controller.signal });
      const begun = new Promise((resolve) => setTimeout(resolve, 5));
      await Promise.race([begun, two.settled()]);
      check.transcript.sent('signal fires');
      controller.abort();
      await two.ended();
      check.equal(two.reason, 'aborted', 'the end after the signal');
      const early = new AbortController();
      const three = probe.begin('cx: wait', { signal: early.signal });
      check.transcript.sent('signal fires at once');
      early.abort();
      await three.settled();
      // It may have been early enough for nothing to have begun.
      if (three.events.length > 0) check.equal(three.reason, 'aborted', 'the end after a signal that fires at once');
    },
  },
  {
    id: 'CX-ABORT-05',
    title: 'an abort that meets the natural end gives one end',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      for (let round = 0; round < 8; round++) {
        const live = probe.begin('cx: words 12');
        // At another moment in each round: before it began, at its first events, near its end.
        for (let turn = 0; turn < round * 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        await probe.abort();
        await live.ended();
        check.equal(live.ofType('stream_end').length, 1, 'stream_end events');
        check.that(['aborted', 'completed'].includes(live.reason), 'aborted or completed', live.summary);
      }
      await probe.sayTo('completed', 'cx: say still fine');
    },
  },
  {
    id: 'CX-ABORT-06',
    title: 'aborting a paused turn settles its open calls; a late answer starts nothing',
    tier: 'CAPABILITY',
    capability: 'host_tool_execution',
    cites,
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}\ncx: say too late', ['echo']);
      await probe.abort();
      check.equal((await probe.pending()).length, 0, 'open requests after the abort');
      const late = await answerStatus(probe.respond(String(ids[0]), { kind: 'deny' }));
      check.that(isClosed(late), 'a late answer that changes nothing', late);
      const next = await probe.sayTo('completed', 'cx: say fresh');
      check.equal(next.text, 'fresh', 'the words of the next turn');
    },
  },
  {
    id: 'CX-ABORT-07',
    title: 'an abort takes effect within 250 ms',
    tier: 'ADVISORY',
    cites,
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      const from = performance.now();
      await probe.abort({ reason: 'at once' });
      await live.ended();
      const took = Math.round(performance.now() - from);
      check.that(took <= 250, 'an end within 250 ms', `${took} ms`);
      return `${took} ms`;
    },
  },
];
