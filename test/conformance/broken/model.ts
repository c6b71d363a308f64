import { OPAQUE_STATE } from '../../../src/conformance/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import type { Broken, Input } from './bend.ts';
import { holds, isEnd } from './bend.ts';

const asIs = (body: string) => body;

/** A stream about these words ends for another reason. */
const ending = (words: string, reason: string) => ({
  show: (event: AgentEvent, input: Input) => (isEnd(event) && holds(input, words) ? { ...event, reason } : event),
});

/** With the provider's own client and a real socket between agent and model. */
export const model: readonly Broken[] = [
  {
    id: 'CX-MODEL-01',
    how: 'half an answer is an answer',
    send: asIs,
    bend: () => ending('cutAfterBytes', 'completed'),
  },
  {
    id: 'CX-MODEL-02',
    how: 'a failing provider has no stable code',
    send: asIs,
    bend: () => ({
      show: (event, input) =>
        event.type === 'error' && holds(input, 'x-should-retry') ? { ...event, code: 'oops' } : event,
    }),
  },
  {
    id: 'CX-MODEL-03',
    how: 'the host is asked for half a call',
    send: asIs,
    bend: () => ending('malformedArgs', 'input_required'),
  },
  {
    id: 'CX-MODEL-04',
    how: 'the host is asked for a call that was cut',
    send: asIs,
    bend: () => ending('finish length', 'input_required'),
  },
  {
    id: 'CX-MODEL-05',
    how: 'the signature of a thought is written anew',
    send: (body) => body.replaceAll(OPAQUE_STATE, OPAQUE_STATE.toLowerCase()),
  },
  {
    id: 'CX-MODEL-06',
    how: 'a call without an id loses its arguments',
    send: asIs,
    bend: () => ({
      show: (event, input) =>
        event.type === 'tool_request' && holds(input, 'missing') ? { ...event, args: {} } : event,
    }),
  },
];
