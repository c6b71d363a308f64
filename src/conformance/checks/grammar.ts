import type { GrammarRule } from '../../contracts/index.ts';
import type { Check } from '../check.ts';
import type { Probe } from '../probe.ts';
import type { Requirement } from '../requirement.ts';
import { Breach } from '../requirement.ts';
import { json } from '../transcript.ts';

const tier = 'MANDATORY';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const cites = 'AgentEvent: grammar of one stream';

/** Streams of every kind that there is, over one handle and a second one. */
async function battery(check: Check): Promise<Probe[]> {
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

function ruleRequirement(rule: GrammarRule): Requirement {
  return {
    id: `CX-GRAM-0${rule}`,
    title: rules[rule],
    tier,
    cites: `${cites}, rule ${rule}`,
    async check(check) {
      const probes = await battery(check);
      const [first, ...more] = probes
        .flatMap(({ violations }) => violations)
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
            `${json(event)}: ${parsed.error?.message}`,
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
      for (const probe of await battery(check)) {
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
      check.transcript.sent('stream, read slowly', 'cx: words 150');
      let text = '';
      let ends = 0;
      const read = async () => {
        for await (const event of probe.session.stream('cx: words 150')) {
          await new Promise((resolve) => setImmediate(resolve));
          if (event.type === 'stream_end') ends++;
          if (event.type !== 'message' || event.partial || event.role !== 'agent') continue;
          for (const part of event.content) if (part.type === 'text') text += (part as { text: string }).text;
        }
      };
      await check.deadline.within(read(), 'a long stream to end');
      check.equal(text.split(' ').filter(Boolean).length, 150, 'the number of words');
      check.equal(ends, 1, 'the number of stream_end events');
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
