import type { ContentPart } from '../src/index.ts';
import type { StoredEvent } from '../src/runtime/index.ts';
import { createEvent } from '../src/runtime/index.ts';

/** A turn is four events: words, a call, its result, words. */
export function eventOf(n: number): StoredEvent {
  const id = `e${n}`;
  const turn = `t${n - (n % 4)}`;
  const place = { id, turnId: turn, streamId: turn, invocationId: turn, author: n % 4 === 0 ? 'user' : 'a' };
  const says = (role: 'user' | 'model', part: ContentPart) => ({ ...place, content: { role, parts: [part] } });
  const words: ContentPart = { type: 'text', text: `these are the words of event ${n}` };
  switch (n % 4) {
    case 0:
      return createEvent({ ...says('user', words), actions: { turn: { start: 'a' } } });
    case 1:
      return createEvent(says('model', { type: 'function_call', id: `c${n}`, name: 't', args: { n } }));
    case 2:
      return createEvent(says('user', { type: 'function_response', id: `c${n - 1}`, name: 't', response: { n } }));
    default:
      return createEvent({ ...says('model', words), model: 'm', actions: { end: { reason: 'completed' } } });
  }
}
