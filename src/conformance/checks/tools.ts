import type { Requirement } from '../kit/index.ts';
import { Breach } from '../kit/index.ts';
import { answerStatus, isClosed } from './answers.ts';

const tier = 'CAPABILITY';
const capability = 'host_tool_execution';
const cites = 'Tools run by the host';

export const tools: readonly Requirement[] = [
  {
    id: 'CX-TOOL-01',
    title: 'a call is announced whole and waits for the host',
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      const args = { a: 1, deep: { list: [1, 'two', null], text: 'ünï "quoted"' } };
      const { live, ids } = await probe.ask(`cx: call echo ${JSON.stringify(args)}`, ['echo']);
      const [request] = live.requests;
      check.equal(request?.args, args, 'the arguments');
      check.equal(request?.handledBy, 'host', 'handledBy');
      check.equal(
        live.pending.map(({ requestId, kind, name }) => [requestId, kind, name]),
        [[ids[0], 'tool', 'echo']],
        'data.pending of stream_end',
      );
      check.equal(live.responses.length, 0, 'responses before anybody answered');
    },
  },
  {
    id: 'CX-TOOL-02',
    title: 'a result reaches the agent and is shown once',
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {"a":1}', ['echo']);
      const rest = await probe.sayTo('completed', probe.answer(String(ids[0]), 'forty-two'));
      check.that(rest.text.includes('forty-two'), 'an agent that repeats the result', rest.text || 'no words');
      const shown = rest.responses.map(({ requestId, name }) => [requestId, name]);
      check.equal(shown, [[ids[0], 'echo']], 'tool_response events');
    },
  },
  {
    id: 'CX-TOOL-03',
    title: 'results of one batch pair with their calls in whatever order they come',
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {"n":1}\ncx: call add {"a":1,"b":2}', ['echo', 'add']);
      const [first = '', second = ''] = ids;
      const rest = await probe.sayTo('completed', [probe.answer(second, 'of-add'), probe.answer(first, 'of-echo')]);
      const paired = /echo -> .*of-echo/.test(rest.text) && /add -> .*of-add/.test(rest.text);
      check.that(paired, 'an agent that says of-echo for echo and of-add for add', rest.text);
    },
  },
  {
    id: 'CX-TOOL-04',
    title: 'one answer of two keeps the turn waiting for the other',
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {"n":1}\ncx: call echo {"n":2}', ['echo', 'echo']);
      const [first = '', second = ''] = ids;
      const half = await probe.sayTo('input_required', probe.answer(second, 'second'));
      check.equal(
        half.pending.map(({ requestId }) => requestId),
        [first],
        'what is still open',
      );
      const rest = await probe.sayTo('completed', probe.answer(first, 'first'));
      check.that(/first[\s\S]*second/.test(rest.text), 'both results, in the order of the calls', rest.text);
    },
  },
  {
    id: 'CX-TOOL-05',
    title: 'a failed result stays one',
    tier,
    capability,
    cites,
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}', ['echo']);
      const failed = probe.answer(String(ids[0]), 'disk is full', { isError: true, errorType: 'failed' });
      const rest = await probe.sayTo('completed', failed);
      check.equal(rest.responses[0]?.isError, true, 'isError of the tool_response');
      check.that(rest.text.includes('disk is full'), 'an agent that got it', rest.text);
    },
  },
  {
    id: 'CX-TOOL-06',
    title: 'a denied call is shown as denied, and the agent continues',
    tier,
    capability,
    cites: 'RequestAnswer: deny',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}\ncx: say went on', ['echo']);
      await probe.respond(String(ids[0]), { kind: 'deny', reason: 'not today', by: { id: 'kit' } });
      const rest = await probe.sayTo('completed', { kind: 'continue' });
      check.equal(rest.text, 'went on', 'the words of the agent');
      const shown = (await probe.answersTo('tool_response', String(ids[0]))).map(({ isError, errorType }) => [
        isError,
        errorType,
      ]);
      check.equal(shown, [[true, 'denied']], 'isError and errorType of the tool_response');
    },
  },
  {
    id: 'CX-TOOL-07',
    title: 'a result that was given by respond is the same as one in the stream',
    tier,
    capability,
    cites: 'AgentSession.respond',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}', ['echo']);
      const settled = await probe.giveResult(String(ids[0]), 'by respond');
      check.equal(settled.status, 'settled', 'the settlement');
      const rest = await probe.sayTo('completed', { kind: 'continue' });
      check.that(rest.text.includes('by respond'), 'an agent that repeats the result', rest.text);
      check.equal((await probe.answersTo('tool_response', String(ids[0]))).length, 1, 'tool_response events');
    },
  },
  {
    id: 'CX-TOOL-08',
    title: 'a call is answered once: later answers change nothing',
    tier,
    capability,
    cites: 'Grammar, rule 3; Settlement',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {"n":1}\ncx: call echo {"n":2}', ['echo', 'echo']);
      const [first = '', second = ''] = ids;
      await probe.giveResult(first, 'the first');
      const again = await answerStatus(probe.giveResult(first, 'the second'));
      check.that(isClosed(again), 'already_settled or E_REQUEST_CLOSED', again);
      const other = probe.answer(second, 'the other');
      let rest = await probe.begin([probe.answer(first, 'the third'), other]).settled();
      // Refused is the whole input or nothing.
      const { thrown } = rest;
      if (thrown) {
        await check.refused(() => Promise.reject(thrown.reason), 'a late result in a stream');
        rest = await probe.sayTo('completed', other);
      }
      check.that(rest.text.includes('the first'), 'the first answer', rest.text);
      check.that(!/the second|the third/.test(rest.text), 'nothing of the later ones', rest.text);
    },
  },
  {
    id: 'CX-TOOL-09',
    title: 'an answer to a request that does not exist is refused',
    tier,
    capability,
    cites: 'Unknown id: FAILED_PRECONDITION',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}', ['echo']);
      const answer = () => probe.session.respond('no-such-request', { kind: 'deny' });
      const error = await check.refused(answer, 'an answer to an unknown request');
      check.equal([error.status, error.code], ['FAILED_PRECONDITION', 'E_UNKNOWN_REQUEST'], 'status and code');
      const stream = () => probe.session.stream(probe.answer('no-such-request', 'x')).next();
      await check.refused(stream, 'a result of an unknown request');
      await probe.sayTo('completed', probe.answer(String(ids[0]), 'still open'));
    },
  },
  {
    id: 'CX-TOOL-10',
    title: 'a tool that is not offered is never asked of the host',
    tier,
    capability,
    cites: 'Around a tool call: known, then valid, then policy',
    async check(check) {
      const probe = await check.open();
      const live = await probe.say('cx: call no_such_tool {}');
      const asked = live.requests.filter(({ handledBy, requestId }) => {
        return handledBy === 'host' && !live.responses.some((response) => response.requestId === requestId);
      });
      if (asked.length > 0) throw new Breach('no request for a tool that nobody offers', live.summary);
      check.that(live.reason !== 'input_required', 'a turn that continues', live.summary);
    },
  },
  {
    id: 'CX-TOOL-11',
    title: 'arguments that do not fit the schema are never asked of the host',
    tier,
    capability,
    cites: 'Around a tool call: known, then valid, then policy',
    async check(check) {
      const probe = await check.open();
      const live = await probe.say('cx: call add {"a":"one"}');
      check.that(live.reason !== 'input_required', 'a call that is answered as invalid_args', live.summary);
    },
  },
  {
    id: 'CX-TOOL-12',
    title: 'call ids are unique in a session',
    tier,
    capability,
    cites: 'Grammar, rule 3',
    async check(check) {
      const probe = await check.open();
      const seen: string[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const { ids } = await probe.ask('cx: call echo {"same":true}\ncx: call echo {"same":true}', ['echo', 'echo']);
        seen.push(...ids);
        await probe.sayTo(
          'completed',
          ids.map((id) => probe.answer(id, 'ok')),
        );
      }
      check.equal(new Set(seen).size, seen.length, 'the number of different ids');
    },
  },
  {
    id: 'CX-TOOL-13',
    title: 'a new message cancels the calls that are open',
    tier,
    capability,
    cites: 'ExecutionOptions.whilePending: cancel',
    async check(check) {
      const probe = await check.open();
      const { ids } = await probe.ask('cx: call echo {}\ncx: say late', ['echo']);
      const next = await probe.sayTo('completed', 'cx: say something else');
      check.equal(next.text, 'something else', 'the words of the new turn');
      const closed = next.responses.map(({ requestId, errorType }) => [requestId, errorType]);
      check.equal(closed, [[ids[0], 'cancelled']], 'tool_response of the old call');
      const late = await answerStatus(probe.respond(String(ids[0]), { kind: 'deny' }));
      check.that(isClosed(late), 'a late answer that changes nothing', late);
    },
  },
];
