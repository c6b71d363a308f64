import type { AgentEvent, GrammarRule, GrammarViolation } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { Probe, Requirement, RequirementCheck } from '../kit/index.ts';
import { Breach, json } from '../kit/index.ts';
import { schemaFault } from './schema-fault.ts';

const tier = 'MANDATORY';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const cites = 'AgentEvent: grammar of one stream';
/** Words whose deltas are more than a pipe holds. */
const MANY = 1_000;
const FULL_AFTER_MS = 30;

/** Streams of every kind that there is, over one handle and a second one. */
async function battery(check: RequirementCheck): Promise<Probe[]> {
  const probe = await check.open();
  probe.watchGrammar();
  await probe.say('cx: think about it\ncx: say hello there');
  await probe.say('cx: nothing');
  await probe.say('cx: words 5');
  await probe.say('cx: fail out of order');
  if (probe.can('host_tool_execution')) {
    const { ids } = await probe.ask('cx: call echo {"a":1}\ncx: call add {"a":1,"b":2}\ncx: say done', ['echo', 'add']);
    await probe.say(ids.map((id, index) => probe.answer(id, `result ${index}`)));
  }
  const other = await check.open();
  other.watchGrammar();
  const live = other.begin('cx: wait');
  await live.seen('initialize');
  await other.abort();
  await live.ended();
  await other.say('cx: say after all');
  return [probe, other];
}

const rules: Record<GrammarRule, string> = {
  1: 'initialize comes first, once a session handle',
  2: 'there is one stream_end, and it is last, whatever happened',
  3: 'every response answers an open request, once',
  4: 'the deltas of a message add up to the durable message',
  5: 'events of one thread come in the order of the log',
  6: 'what was emitted does not change later',
  7: 'after a fatal error comes stream_end(failed) and nothing else',
};

/** What a pipe brought after a stream had ended: nobody is shown it, and it may not be written all the same. */
async function afterTheEnd(check: RequirementCheck, probes: readonly Probe[]): Promise<GrammarViolation[]> {
  const begun = begunIn(probes);
  const late = (await check.stray()).filter(begun);
  return late.map(({ type, id }) => ({ rule: 2, message: `${type} follows stream_end`, eventId: id }));
}

/** Whether an event is of a stream of these. */
const begunIn = (probes: readonly Probe[]) => (event: AgentEvent) =>
  probes.some(({ id, streams }) => {
    return id === event.sessionId && streams.some(({ stream }) => stream.streamId === event.streamId);
  });

/** What an agent said in events: in whole messages, and in pieces. */
function wordsIn(events: readonly AgentEvent[]): { whole: string; deltas: string } {
  const told = { whole: '', deltas: '' };
  for (const event of events) {
    if (event.type !== 'message' || event.role !== 'agent') continue;
    told[event.partial ? 'deltas' : 'whole'] += textOfParts(event.content);
  }
  return told;
}

function ruleRequirement(rule: GrammarRule): Requirement {
  return {
    id: `CX-GRAM-0${rule}`,
    title: rules[rule],
    tier,
    cites: `${cites}, rule ${rule}`,
    async check(check) {
      const probes = await battery(check);
      const late = rule === 2 ? await afterTheEnd(check, probes) : [];
      const [first, ...more] = probes
        .flatMap(({ violations }) => violations)
        .concat(late)
        .filter((violation) => violation.rule === rule);
      if (first) {
        const others = more.length > 0 ? ` (and ${more.length} more)` : '';
        throw new Breach(rules[rule], `${first.message}${first.eventId ? ` at ${first.eventId}` : ''}${others}`);
      }
    },
  };
}

export const grammar: readonly Requirement[] = [
  ruleRequirement(1),
  ruleRequirement(2),
  ruleRequirement(3),
  ruleRequirement(4),
  ruleRequirement(5),
  ruleRequirement(6),
  ruleRequirement(7),
  {
    id: 'CX-GRAM-08',
    title: 'every event fits its schema',
    tier,
    cites: 'AgentEvent: what a host sees',
    async check(check) {
      const { agentEvent } = await import('../../contracts/schemas/index.ts');
      for (const { events } of (await battery(check)).flatMap(({ streams }) => streams)) {
        for (const event of events) {
          const parsed = agentEvent.safeParse(event);
          check.that(
            parsed.success,
            `a ${event.type} that fits its schema`,
            `${schemaFault(event.type, parsed.error?.issues)} in ${json(event)}`,
          );
          check.that(ISO.test(event.timestamp), 'a timestamp in ISO 8601, UTC, milliseconds', event.timestamp);
        }
      }
    },
  },
  {
    id: 'CX-GRAM-09',
    title: 'events name their session and stream, and no two have one id',
    tier,
    cites: 'AgentEvent: base',
    async check(check) {
      const probes = await battery(check);
      const isKnown = begunIn(probes);
      const stray = (await check.stray()).find((event) => !isKnown(event));
      check.that(
        stray === undefined,
        'events of streams that were begun',
        `${stray?.type} of stream ${stray?.streamId}`,
      );
      for (const probe of probes) {
        const ids = new Set<string>();
        for (const { events, stream } of probe.streams) {
          for (const event of events) {
            check.equal(event.sessionId, probe.id, `the sessionId of ${event.type}`);
            check.equal(event.streamId, stream.streamId, `the streamId of ${event.type}`);
            check.that(!ids.has(event.id), 'ids that are used once', `${event.type} uses ${event.id} again`);
            ids.add(event.id);
          }
        }
      }
    },
  },
  {
    id: 'CX-GRAM-10',
    title: 'an empty answer ends as any other',
    tier,
    cites: `${cites}, rule 2`,
    async check(check) {
      const probe = await check.open();
      const live = await probe.sayTo('completed', 'cx: nothing');
      check.equal(live.text, '', 'the words');
    },
  },
  {
    id: 'CX-GRAM-11',
    title: 'a slow consumer loses nothing',
    tier,
    cites,
    async check(check) {
      const probe = await check.open();
      const asked = `cx: words ${MANY}`;
      check.transcript.sent('stream, read slowly', asked);
      const events: AgentEvent[] = [];
      const read = async () => {
        for await (const event of probe.session.stream(asked)) {
          // Long enough for whatever lies between to be full, a pipe too.
          const isFirst = events.push(event) === 1;
          await new Promise((resolve) => (isFirst ? setTimeout(resolve, FULL_AFTER_MS) : setImmediate(resolve)));
        }
      };
      await check.deadline.within(read(), 'a long stream to end');
      const slowly = wordsIn(events);
      check.equal(slowly.whole.split(' ').filter(Boolean).length, MANY, 'the number of words');
      check.equal(events.filter(({ type }) => type === 'stream_end').length, 1, 'the number of stream_end events');
      // Where the deltas of a short message do not add up, or are not shown, a long one says nothing more.
      const short = wordsIn((await probe.say('cx: words 5')).events);
      if (short.deltas === short.whole) {
        const found = `${slowly.deltas.length} characters of ${slowly.whole.length}`;
        check.that(slowly.deltas === slowly.whole, 'every delta', found);
      }
    },
  },
  {
    id: 'CX-GRAM-12',
    title: 'streaming shows deltas, and none when it is switched off',
    tier: 'CAPABILITY',
    capability: 'streaming',
    cites: 'ExecutionOptions.streaming',
    async check(check) {
      const probe = await check.open();
      const shown = await probe.sayTo('completed', 'cx: words 10', { streaming: true });
      const deltas = shown.ofType('message').filter(({ partial }) => partial);
      check.that(deltas.length > 0, 'partial messages', shown.summary);
      const hidden = await probe.sayTo('completed', 'cx: words 10', { streaming: false });
      check.equal(hidden.ofType('message').filter(({ partial }) => partial).length, 0, 'partials with streaming off');
      check.equal(hidden.text, shown.text, 'the words of both');
    },
  },
];
