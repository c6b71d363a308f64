import type { PolicyEvaluator } from '../../../src/contracts/index.ts';
import type { Bend, Broken } from './bend.ts';
import { beside, holds, isEnd, through } from './bend.ts';

/** An answer to a question that is taken for another one. */
const mistaken = (from: string, to: 'accept' | 'decline' | 'cancel'): (() => Bend) => {
  return () => ({
    respond: (right, id, answer) => {
      const isIt = answer.kind === 'elicitation' && answer.action === from;
      return right.respond(id, isIt ? { kind: 'elicitation', action: to } : answer);
    },
  });
};

/** Whatever goes wrong, it is a yes. */
const forgiving = (right: PolicyEvaluator): PolicyEvaluator => ({
  ...right,
  async evaluate(request) {
    try {
      return await right.evaluate(request);
    } catch {
      return { outcome: 'allow' };
    }
  },
});

export const control: readonly Broken[] = [
  {
    id: 'CX-ABORT-01',
    how: 'an aborted stream is a failed one',
    bend() {
      let reason = '';
      return {
        abort: (right, target) => {
          reason = target?.reason ?? '';
          return right.abort(target);
        },
        show: (event) => (isEnd(event) && reason === 'changed my mind' ? { ...event, reason: 'failed' } : event),
      };
    },
  },
  {
    id: 'CX-ABORT-02',
    how: 'there must be something to abort',
    bend() {
      let isIdle = false;
      return {
        show(event, input) {
          isIdle = isEnd(event) && input === 'cx: say first';
          return event;
        },
        abort: (right, target) => (isIdle ? Promise.reject(new Error('nothing runs')) : right.abort(target)),
      };
    },
  },
  {
    id: 'CX-ABORT-03',
    how: 'what was aborted is still heard of',
    bend() {
      let old = '';
      return {
        show(event, input) {
          const isStale = isEnd(event) && input === 'cx: say clean';
          if (input === 'cx: wait') old = event.streamId;
          return isStale ? [beside(event, { streamId: old }), event] : event;
        },
      };
    },
  },
  {
    id: 'CX-ABORT-04',
    how: 'a stream that is aborted by itself fails',
    bend: () => ({
      stream(right, input, options) {
        let told: string | undefined;
        const stream = right.stream(input, options);
        const shown = through(stream, (event) => (isEnd(event) && told ? { ...event, reason: 'failed' } : event));
        return Object.assign(shown, {
          abort: (reason?: string) => {
            told = reason;
            return stream.abort(reason);
          },
        });
      },
    }),
  },
  {
    id: 'CX-ABORT-05',
    how: 'an abort adds an end of its own',
    bend() {
      let aborted = false;
      return {
        abort: (right, target) => {
          aborted = true;
          return right.abort(target);
        },
        show: (event, input) => {
          const twice = isEnd(event) && aborted && input === 'cx: words 12';
          return twice ? [event, beside(event, { ...event, id: `${event.id}+` })] : event;
        },
      };
    },
  },
  {
    id: 'CX-ABORT-06',
    how: 'a call of an aborted turn stays open',
    bend() {
      let open: Awaited<ReturnType<NonNullable<Bend['pending']>>> | undefined;
      return {
        async abort(right, target) {
          open = await right.pending();
          await right.abort(target);
        },
        pending: async (right) => open ?? (await right.pending()),
      };
    },
  },
  {
    id: 'CX-ABORT-07',
    how: 'an abort takes its time',
    bend: () => ({
      async abort(right, target) {
        if (target?.reason === 'at once') await new Promise((resolve) => setTimeout(resolve, 300));
        await right.abort(target);
      },
    }),
  },
  {
    id: 'CX-STEER-01',
    how: 'it does not know when words arrive',
    bend: () => ({
      async steer(right, data) {
        const told = await right.steer(data);
        return holds(data, 'mind the gap') ? { ...told, disposition: 'next_turn' } : told;
      },
    }),
  },
  {
    id: 'CX-STEER-02',
    how: 'words arrive twice',
    bend: () => ({
      async steer(right, data) {
        if (holds(data, 'by the way')) await right.steer(data);
        return right.steer(data);
      },
    }),
  },
  {
    id: 'CX-UPDATE-01',
    how: 'an update does not say when',
    bend: () => ({
      update: async (right, config) => ({ ...(await right.update(config)), effective: 'some time' }),
    }),
  },
  {
    id: 'CX-UPDATE-02',
    how: 'what it does not know it leaves out',
    bend: () => ({
      update: (right, config) => right.update('colour' in config ? { title: String(config.title) } : config),
    }),
  },
  { id: 'CX-ELIC-01', how: 'accept is taken for decline', bend: mistaken('accept', 'decline') },
  { id: 'CX-ELIC-02', how: 'decline is taken for cancel', bend: mistaken('decline', 'cancel') },
  { id: 'CX-ELIC-03', how: 'cancel is taken for decline', bend: mistaken('cancel', 'decline') },
  {
    id: 'CX-STEER-03',
    how: 'it promises what it cannot know while it works',
    bend: () => ({
      async steer(right, data) {
        const told = await right.steer(data);
        const other = told.disposition === 'current_turn' ? ('next_turn' as const) : ('current_turn' as const);
        return holds(data, 'while you work') ? { ...told, disposition: other } : told;
      },
    }),
  },
  {
    id: 'CX-ELIC-05',
    how: 'the answer to a question is shown, whatever it is',
    bend() {
      let given: unknown;
      return {
        respond(right, id, answer) {
          if (answer.kind === 'elicitation' && answer.content?.credential) given = answer.content;
          return right.respond(id, answer);
        },
        show: (event) =>
          given && isEnd(event) ? [beside(event, { kind: 'ext:answered', data: given }), event] : event,
      };
    },
  },
  {
    id: 'CX-ELIC-06',
    how: 'it is never too late for a yes',
    bend: () => ({
      respond: (right, id, answer) =>
        right.respond(id, answer).catch((error: { details?: { how?: string } }) => {
          if (error.details?.how === 'expired') return { status: 'settled' as const };
          throw error;
        }),
    }),
  },
  { id: 'CX-POLICY-01', how: 'a policy that throws allows', policy: forgiving },
  {
    id: 'CX-POLICY-02',
    how: 'what is not deny is allow',
    policy: (right) => ({
      ...right,
      async evaluate(request) {
        const said = await right.evaluate(request);
        return (said.outcome as string) === 'perhaps' ? { outcome: 'allow' } : said;
      },
    }),
  },
  { id: 'CX-ELIC-04', how: 'anything is an answer', bend: mistaken('perhaps', 'decline') },
];
