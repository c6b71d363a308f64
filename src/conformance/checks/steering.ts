import type { SessionUpdate } from '../../contracts/index.ts';
import type { Requirement } from '../kit/index.ts';
import { Untestable } from '../kit/index.ts';

const tier = 'CAPABILITY';

const times = (text: string, word: string) => text.split(word).length - 1;

export const steering: readonly Requirement[] = [
  {
    id: 'CX-STEER-01',
    title: 'words for a turn that waits reach it, once',
    tier,
    capability: 'steer',
    cites: 'AgentSession.steer',
    async check(check) {
      const probe = await check.open();
      if (!probe.can('host_tool_execution')) throw new Untestable('no turn can be made to wait without tools');
      const { ids } = await probe.ask('cx: call echo {}\ncx: recall', ['echo']);
      const { disposition, steerId } = await probe.steer({ content: 'mind the gap' });
      check.equal(disposition, 'current_turn', 'the disposition');
      check.that(typeof steerId === 'string' && steerId !== '', 'a steerId', steerId);
      const rest = await probe.sayTo('completed', probe.answer(String(ids[0]), 'ok'));
      check.equal(times(rest.text, 'mind the gap'), 1, 'how often the agent got it in this turn');
      const next = await probe.sayTo('completed', 'cx: recall');
      check.equal(times(next.text, 'mind the gap'), 1, 'how often the agent got it in all');
    },
  },
  {
    id: 'CX-STEER-02',
    title: 'words for an idle session come before the next message, once',
    tier,
    capability: 'steer',
    cites: 'AgentSession.steer',
    async check(check) {
      const probe = await check.open();
      await probe.sayTo('completed', 'cx: say idle now');
      const { disposition } = await probe.steer({ content: 'by the way' });
      check.equal(disposition, 'next_turn', 'the disposition');
      const next = await probe.sayTo('completed', 'cx: recall');
      check.equal(times(next.text, 'by the way'), 1, 'how often the agent got it');
      const isBefore = next.text.indexOf('by the way') < next.text.lastIndexOf('cx: recall');
      check.that(isBefore, 'the words before the message', next.text);
      const after = await probe.sayTo('completed', 'cx: recall');
      check.equal(times(after.text, 'by the way'), 1, 'how often it knows of it a turn later');
    },
  },
  {
    id: 'CX-STEER-03',
    title: 'words for a turn that runs arrive where it was said, once',
    tier,
    capability: 'steer',
    cites: 'AgentSession.steer: intervenes in the running stream; says where it will land',
    async check(check) {
      const probe = await check.open();
      const live = probe.begin('cx: wait 50\ncx: recall');
      await live.seen('initialize');
      const { disposition } = await probe.steer({ content: 'while you work' });
      await live.ended();
      check.equal(live.reason, 'completed', 'the end');
      const now = disposition === 'current_turn' ? 1 : 0;
      check.equal(times(live.text, 'while you work'), now, `the words in a turn that they reach as ${disposition}`);
      const next = await probe.sayTo('completed', 'cx: recall');
      check.equal(times(next.text, 'while you work'), 1, 'how often the agent got it in all');
    },
  },
  {
    id: 'CX-UPDATE-01',
    title: 'an update says when it takes effect',
    tier,
    capability: 'update',
    cites: 'AgentSession.update',
    async check(check) {
      const probe = await check.open();
      const { effective } = await probe.update({ title: 'a conversation' });
      check.equal(effective, 'next_step', 'effective');
      await probe.sayTo('completed', 'cx: say goes on');
    },
  },
  {
    id: 'CX-UPDATE-02',
    title: 'an update with an unknown or bad key is refused whole',
    tier,
    capability: 'update',
    cites: 'SessionUpdate: unknown keys are refused, all or nothing',
    async check(check) {
      const probe = await check.open();
      const unknown = { title: 'half', colour: 'blue' } as SessionUpdate;
      await check.refused(() => probe.session.update(unknown), 'an update with an unknown key');
      const bad = { title: 'half', model: 7 } as unknown as SessionUpdate;
      await check.refused(() => probe.session.update(bad), 'an update with a bad value');
      const live = await probe.sayTo('completed', 'cx: say unchanged');
      const titles = live.ofType('session_update').filter(({ title }) => title === 'half');
      check.equal(titles.length, 0, 'updates that took effect by half');
    },
  },
];
