import type { AgentSession } from '../../../src/contracts/index.ts';
import type { Broken } from './bend.ts';
import { holds, isEnd } from './bend.ts';

/** Sessions of one process that listen to one another. */
const overheard = new Map<AgentSession['descriptor'], string>();

export const lifecycle: readonly Broken[] = [
  {
    id: 'CX-LIFE-01',
    how: 'a descriptor of another shape',
    bend: () => ({ descriptor: (right) => ({ ...right, description: 7 }) }),
  },
  {
    id: 'CX-LIFE-02',
    how: 'sessions that hear one another',
    bend: () => ({
      stream(right, input, options) {
        if (holds(input, 'a secret')) overheard.set(right.descriptor, 'a secret');
        const heard = input === 'cx: recall' ? overheard.get(right.descriptor) : undefined;
        return right.stream(heard ? `cx: say ${heard}` : input, options);
      },
    }),
  },
  {
    id: 'CX-LIFE-03',
    how: 'a stream that runs before anybody asks',
    bend: () => ({
      stream(right, input, options) {
        const stream = right.stream(input, options);
        if (!holds(input, 'unheard')) return stream;
        void stream.next();
        return stream;
      },
    }),
  },
  {
    id: 'CX-LIFE-04',
    how: 'leaving the loop goes unnoticed',
    bend: () => ({
      stream(right, input, options) {
        const stream = right.stream(input, options);
        return Object.assign(
          { [Symbol.asyncIterator]: () => stream, next: () => stream.next() },
          {
            streamId: stream.streamId,
            abort: () => stream.abort(),
            return: async () => ({ value: undefined, done: true as const }),
          },
        ) as never;
      },
    }),
  },
  {
    id: 'CX-LIFE-05',
    how: 'a closed session goes on',
    bend() {
      let runs = 0;
      return {
        show(event) {
          runs = isEnd(event) ? 0 : 1;
          return event;
        },
        close: async (right) => (runs > 0 ? right[Symbol.asyncDispose]() : undefined),
      };
    },
  },
  {
    id: 'CX-LIFE-06',
    how: 'a stream that is closed says that it completed',
    bend() {
      let closed = false;
      return {
        close: async (right) => {
          closed = true;
          await right[Symbol.asyncDispose]();
        },
        show: (event) => (closed && isEnd(event) ? { ...event, reason: 'completed' } : event),
      };
    },
  },
];
