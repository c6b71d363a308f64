import type { AgentEvent } from '../../../src/contracts/index.ts';
import type { Bend, Broken } from './bend.ts';
import { beside, isEnd } from './bend.ts';

/** Puts one more event before the end of every stream. */
const extra = (change: Record<string, unknown>): (() => Bend) => {
  return () => ({
    show: (event) => (isEnd(event) && event.reason !== 'failed' ? [beside(event, change), event] : event),
  });
};

export const grammar: readonly Broken[] = [
  {
    id: 'CX-GRAM-01',
    how: 'initialize in every stream',
    bend() {
      let ends = 0;
      let first = true;
      return {
        show(event) {
          const again = first && ends > 0;
          first = isEnd(event);
          if (isEnd(event)) ends++;
          const fresh = { type: 'initialize', kind: undefined, agentId: 'bot', interfaceVersion: '1.0' };
          return again ? [beside(event, fresh), event] : event;
        },
      };
    },
  },
  {
    id: 'CX-GRAM-02',
    how: 'something follows stream_end',
    bend: () => ({ show: (event) => (isEnd(event) ? [event, beside(event)] : event) }),
  },
  {
    id: 'CX-GRAM-03',
    how: 'an answer to nothing',
    bend: extra({ type: 'elicitation_response', kind: undefined, requestId: 'nobody-asked', action: 'accept' }),
  },
  {
    id: 'CX-GRAM-04',
    how: 'deltas that say something else than the message',
    bend: () => ({
      show: (event) =>
        event.type === 'message' && event.partial && event.content[0]?.type === 'text'
          ? { ...event, content: [{ type: 'text', text: '?' }] }
          : event,
    }),
  },
  { id: 'CX-GRAM-05', how: 'an old event comes late', bend: extra({ seq: 0 }) },
  {
    id: 'CX-GRAM-06',
    how: 'an event is written to after it was shown',
    bend() {
      let first: AgentEvent | undefined;
      return {
        show(event) {
          if (isEnd(event) && first) Object.assign(first, { agentId: 'somebody else' });
          if (event.type !== 'initialize') return event;
          first = { ...event };
          return first;
        },
      };
    },
  },
  {
    id: 'CX-GRAM-07',
    how: 'something follows a fatal error',
    bend: () => ({ show: (event) => (event.type === 'error' && event.fatal ? [event, beside(event)] : event) }),
  },
  { id: 'CX-GRAM-08', how: 'a time that is none', bend: extra({ timestamp: 'yesterday' }) },
  { id: 'CX-GRAM-09', how: 'an event of another session', bend: extra({ sessionId: 'another' }) },
  {
    id: 'CX-GRAM-10',
    how: 'an empty answer is a refusal',
    bend: () => ({
      show: (event, input) => (isEnd(event) && input === 'cx: nothing' ? { ...event, reason: 'refusal' } : event),
    }),
  },
  {
    id: 'CX-GRAM-11',
    how: 'a long message is cut',
    bend: () => ({
      show(event) {
        if (event.type !== 'message' || event.partial || event.role !== 'agent') return event;
        const content = event.content.map((part) => {
          return part.type === 'text' ? { ...part, text: part.text.split(' ').slice(0, 100).join(' ') } : part;
        });
        return JSON.stringify(event.content).length < 500 ? event : { ...event, content };
      },
    }),
  },
  {
    id: 'CX-GRAM-12',
    how: 'streaming cannot be switched off',
    bend: () => ({ stream: (right, input, options) => right.stream(input, { ...options, streaming: true }) }),
  },
];
