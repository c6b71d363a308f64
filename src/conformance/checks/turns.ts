import type { AgentEvent, SessionInput } from '../../contracts/index.ts';
import type { Requirement } from '../kit/index.ts';
import { json, Untestable } from '../kit/index.ts';

const tier = 'MANDATORY';
const cites = 'AgentSession.stream';

const badInputs: readonly [string, unknown][] = [
  ['no input at all', []],
  ['an input of no known kind', { kind: 'sing', content: 'la' }],
  [
    'two messages at once',
    [
      { kind: 'message', content: 'one' },
      { kind: 'message', content: 'two' },
    ],
  ],
  ['a message without content', { kind: 'message' }],
  ['an answer without a request', { kind: 'tool_result', result: { content: [] } }],
];

/** Events of a stream that name another turn than its end, or none; `initialize` is of no turn. */
function strangersTo({ turnId }: AgentEvent, events: readonly AgentEvent[]): string[] {
  return events
    .filter(({ type, turnId: named }) => type !== 'initialize' && named !== turnId)
    .map((event) => `${event.type} of turn ${event.turnId}`);
}

export const turns: readonly Requirement[] = [
  {
    id: 'CX-TURN-01',
    title: 'a message is answered and the turn completes',
    tier,
    cites,
    async check(check) {
      const live = await (await check.open()).sayTo('completed', 'cx: say good morning');
      check.that(
        live.text === 'good morning',
        'the words of the agent: "good morning", as the fixture message says',
        `${json(live.text)}: the agent does not follow the fixture messages of the kit; let its model answer with answerFixture() of coxswain/conformance, or point it at the model server`,
      );
    },
  },
  {
    id: 'CX-TURN-02',
    title: 'a message of parts is taken as one of text is',
    tier,
    cites,
    async check(check) {
      const content = [{ type: 'text' as const, text: 'cx: say in parts' }];
      const live = await (await check.open()).sayTo('completed', { kind: 'message', content });
      check.equal(live.text, 'in parts', 'the words of the agent');
    },
  },
  {
    id: 'CX-TURN-03',
    title: 'a second stream is refused while one runs, and disturbs nothing',
    tier,
    cites: 'One live stream a session',
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait');
      await live.seen('initialize');
      const second = () => probe.session.stream('cx: say me too').next();
      const error = await check.refused(second, 'a second stream');
      check.equal(error.code, 'E_SESSION_BUSY', 'the code');
      await probe.abort();
      await live.ended();
      check.equal(live.reason, 'aborted', 'the end of the first');
      const after = await probe.sayTo('completed', 'cx: recall');
      check.that(!after.text.includes('me too'), 'nothing of a refused input', after.text);
    },
  },
  {
    id: 'CX-TURN-04',
    title: 'bad input is refused with a typed error before anything happens',
    tier,
    cites: 'Any refused input fails at its first next(): nothing stored, no event',
    async check(check) {
      const probe = await check.open();
      for (const [what, input] of badInputs) {
        const stream = () => probe.session.stream(input as SessionInput).next();
        const error = await check.refused(stream, what);
        check.that(!error.retryable, `${what} to be refused for good`, `${error.code} says retryable`);
      }
      const after = await probe.sayTo('completed', 'cx: recall');
      check.equal(JSON.parse(after.text), ['cx: recall'], 'what the agent got');
    },
  },
  {
    id: 'CX-TURN-05',
    title: 'a completed turn is not continued',
    tier,
    cites: 'SessionInput: continue of a completed turn is refused',
    async check(check) {
      const probe = await check.open();
      await probe.sayTo('completed', 'cx: say done');
      await check.refused(() => probe.session.stream({ kind: 'continue' }).next(), 'continue of a completed turn');
      await probe.sayTo('completed', 'cx: say still here');
    },
  },
  {
    id: 'CX-TURN-06',
    title: 'stream_end carries usage and steps',
    tier,
    cites: 'Every stream_end carries data.usage, data.steps',
    async check(check) {
      const live = await (await check.open()).sayTo('completed', 'cx: usage 10 5\ncx: say counted');
      check.that(typeof live.end.data?.steps === 'number', 'data.steps', live.end.data);
      check.that(typeof live.end.data?.usage === 'object', 'data.usage', live.end.data);
    },
  },
  {
    id: 'CX-TURN-07',
    title: 'usage adds up over the steps of a turn',
    tier: 'CAPABILITY',
    capability: 'host_tool_execution',
    cites: 'Every stream_end carries data.usage, data.steps; usage',
    async check(check) {
      const probe = await check.open();
      const { live, ids } = await probe.ask('cx: usage 10 5\ncx: call echo {}\ncx: usage 7 3\ncx: say sum', ['echo']);
      const rest = await probe.sayTo('completed', [probe.answer(String(ids[0]), 'x')]);
      const events = [...live.ofType('usage'), ...rest.ofType('usage')];
      if (events.length === 0 && rest.end.data?.usage?.inputTokens === undefined) {
        throw new Untestable('the executor counts no tokens');
      }
      const sum = (key: 'inputTokens' | 'outputTokens') => events.reduce((all, event) => all + (event[key] ?? 0), 0);
      const { inputTokens, outputTokens } = rest.end.data?.usage ?? {};
      check.equal([sum('inputTokens'), sum('outputTokens')], [17, 8], 'the sum of the usage events');
      check.equal([inputTokens, outputTokens], [17, 8], 'data.usage');
    },
  },
  {
    id: 'CX-TURN-08',
    title: 'all streams of a turn carry its turnId, and no other turn does',
    tier,
    cites: 'AgentEvent: base; a turn goes from a user message to its terminal stream_end',
    async check(check) {
      const probe = await check.open();
      const first = await probe.sayTo('completed', 'cx: say a turn');
      const second = await probe.sayTo('completed', 'cx: say another turn');
      const [one, two] = [first.end.turnId, second.end.turnId];
      check.that(one !== undefined && two !== undefined && one !== two, 'a turnId of its own for each turn', [
        one,
        two,
      ]);
      for (const { end, events } of [first, second])
        check.equal(strangersTo(end, events), [], 'events of another turn');
      if (!probe.can('host_tool_execution')) return;
      const { live, ids } = await probe.ask('cx: call echo {}', ['echo']);
      const rest = await probe.sayTo('completed', probe.answer(String(ids[0]), 'same turn'));
      check.equal(rest.end.turnId, live.end.turnId, 'the turnId of the second stream of a turn');
      for (const { end, events } of [live, rest]) check.equal(strangersTo(end, events), [], 'events of another turn');
    },
  },
  {
    id: 'CX-TURN-09',
    title: 'reports how long a turn takes',
    tier: 'INFORMATIONAL',
    cites,
    async check(check) {
      const probe = await check.open();
      const from = performance.now();
      await probe.sayTo('completed', 'cx: say timed');
      return `${Math.round(performance.now() - from)} ms`;
    },
  },
];
