import type { AgentEvent } from '../../../src/contracts/index.ts';
import type { Broken } from './bend.ts';
import { recode } from './bend.ts';

export const storage: readonly Broken[] = [
  {
    id: 'CX-RESUME-01',
    how: 'words are kept in part',
    bend: () => ({
      async *stored(right, after) {
        for await (const event of right.events(after === undefined ? {} : { after })) {
          yield event.type === 'message' ? { ...event, content: [] } : event;
        }
      },
    }),
  },
  {
    id: 'CX-RESUME-02',
    how: 'the event after a cursor is left out',
    bend: () => ({
      async *stored(right, after) {
        let skip = after === undefined ? 0 : 1;
        for await (const event of right.events(after === undefined ? {} : { after })) if (skip-- <= 0) yield event;
      },
    }),
  },
  {
    id: 'CX-RESUME-03',
    how: 'what is open is known to its first handle only',
    bendAgain: () => ({}),
    bend() {
      let isOwn = false;
      return {
        show(event) {
          isOwn = true;
          return event;
        },
        pending: async (right) => (isOwn ? right.pending() : []),
      };
    },
  },
  {
    id: 'CX-RESUME-04',
    how: 'any id is a session',
    open: (right, ref) => right(ref?.sessionId === undefined ? ref : { ...ref, create: true }),
  },
  {
    id: 'CX-RESUME-05',
    how: 'an end is kept without its sums',
    bend: () => ({
      async *stored(right, after) {
        for await (const event of right.events(after === undefined ? {} : { after })) {
          yield event.type === 'stream_end' ? ({ ...event, data: {} } as AgentEvent) : event;
        }
      },
    }),
  },
  {
    id: 'CX-RESUME-06',
    how: 'whoever watches misses messages',
    bend: () => ({
      async *live(right) {
        for await (const event of right.events({ live: true })) if (event.type !== 'message') yield event;
      },
    }),
  },
  {
    id: 'CX-RESUME-07',
    how: 'what was answered before a crash is asked again',
    bendAgain: () => ({
      pending: async (right) => {
        const [open, ...more] = await right.pending();
        return open ? [{ ...open, requestId: `${open.requestId}-again` }, open, ...more] : [];
      },
    }),
  },
  {
    id: 'CX-FENCE-01',
    how: 'whoever comes second is refused somehow',
    bendAgain: () => ({
      stream(right, input, options) {
        const stream = right.stream(input, options);
        const next = stream.next.bind(stream);
        return Object.assign(stream, {
          next: () => next().catch((error: unknown) => recode(error, 'E_SESSION_BUSY', 'E_OTHER')),
        });
      },
    }),
  },
  { id: 'CX-FORK-01', how: 'a fork begins with nothing', open: (right, ref) => right(ref?.fork ? {} : ref) },
];
