import type { Broken } from './bend.ts';
import { beside, holds, isEnd, recode } from './bend.ts';

export const turns: readonly Broken[] = [
  {
    id: 'CX-TURN-01',
    how: 'it says something else',
    bend: () => ({
      stream: (right, input, options) => {
        return right.stream(input === 'cx: say good morning' ? 'cx: say good evening' : input, options);
      },
    }),
  },
  {
    id: 'CX-TURN-02',
    how: 'parts are not read',
    bend: () => ({
      stream: (right, input, options) => {
        const isParts = holds(input, '"kind":"message"') && holds(input, 'cx: say in parts');
        return right.stream(isParts ? 'cx: say nothing heard' : input, options);
      },
    }),
  },
  {
    id: 'CX-TURN-03',
    how: 'a second stream fails somehow',
    bendAgain: () => ({}),
    bend: () => ({
      stream(right, input, options) {
        const stream = right.stream(input, options);
        const next = stream.next.bind(stream);
        return Object.assign(stream, {
          next: () => next().catch((error: unknown) => recode(error, 'E_SESSION_BUSY', 'E_OTHER')),
        });
      },
    }),
  },
  {
    id: 'CX-TURN-04',
    how: 'what it does not know it takes for a message',
    bend: () => ({
      stream: (right, input, options) => right.stream(holds(input, '"kind":"sing"') ? 'la' : input, options),
    }),
  },
  {
    id: 'CX-TURN-05',
    how: 'a completed turn goes on',
    bend() {
      let last = '';
      return {
        stream: (right, input, options) => {
          const isOver = last === 'completed' && holds(input, '"kind":"continue"');
          return right.stream(isOver ? 'cx: say more' : input, options);
        },
        show(event) {
          if (isEnd(event)) last = event.reason;
          return event;
        },
      };
    },
  },
  {
    id: 'CX-TURN-06',
    how: 'an end without steps',
    bend: () => ({
      show: (event, input) => (isEnd(event) && holds(input, 'say counted') ? { ...event, data: {} } : event),
    }),
  },
  {
    id: 'CX-TURN-07',
    how: 'usage is told twice',
    bend: () => ({
      show: (event) => (event.type === 'usage' ? [event, beside(event, { ...event, id: `${event.id}+` })] : event),
    }),
  },
  {
    id: 'CX-TURN-08',
    how: 'every stream is a turn',
    bend: () => ({
      show: (event, input) => (holds(input, 'same turn') ? { ...event, turnId: `${event.turnId}-2` } : event),
    }),
  },
  {
    id: 'CX-TURN-09',
    how: 'a turn that cannot be timed',
    bend: () => ({
      show: (event, input) => (isEnd(event) && input === 'cx: say timed' ? { ...event, reason: 'refusal' } : event),
    }),
  },
];

export const errors: readonly Broken[] = [
  {
    id: 'CX-ERR-01',
    how: 'an error without a stable code',
    bend: () => ({ show: (event) => (event.type === 'error' ? { ...event, code: 'oops' } : event) }),
  },
  {
    id: 'CX-ERR-02',
    how: 'an error that shows the key',
    bend: () => ({
      show: (event) =>
        event.type === 'error' && holds(event, 'with details')
          ? { ...event, message: 'refused: Bearer sk-cx-decoy-5f2b9c' }
          : event,
    }),
  },
  {
    id: 'CX-ERR-03',
    how: 'control characters break it',
    bend: () => ({
      stream(right, input, options) {
        const stream = right.stream(input, options);
        if (!holds(input, '\\u0007')) return stream;
        return Object.assign(stream, { next: () => Promise.reject(new TypeError('unexpected character')) });
      },
    }),
  },
  {
    id: 'CX-ERR-04',
    how: 'a result of no shape is taken',
    bend: () => ({
      stream: (right, input, options) => {
        const bad = input as { kind?: string; requestId?: string; result?: { content?: unknown } };
        const isBad = bad.kind === 'tool_result' && bad.result?.content === 'not parts';
        const decision = { outcome: 'approved' as const, by: 'user:x' };
        const result = { content: [] };
        const mild = { kind: 'tool_result' as const, requestId: String(bad.requestId), result, decision };
        return right.stream(isBad ? mild : input, options);
      },
    }),
  },
];
