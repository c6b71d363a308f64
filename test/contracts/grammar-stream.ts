import type { AgentEvent } from '../../src/contracts/index.ts';

/** What a test says of an event; the rest is filled in. */
export type Sketch = { type: string } & Record<string, unknown>;

/** Events as an executor would send them, with ids and everything that a type needs. */
export function stream(...sketches: Sketch[]): AgentEvent[] {
  return sketches.map(
    (sketch, index) =>
      ({
        id: `e${index}`,
        timestamp: '2026-01-02T03:04:05.678Z',
        sessionId: 's1',
        streamId: 'st1',
        ...needed[sketch.type],
        ...sketch,
      }) as unknown as AgentEvent,
  );
}

const needed: Record<string, Record<string, unknown>> = {
  initialize: { agentId: 'a', interfaceVersion: '1' },
  message: { role: 'agent', content: [] },
  tool_request: { name: 'pay', args: {}, handledBy: 'host' },
  tool_response: { name: 'pay', content: [] },
  elicitation_request: { kind: 'tool_confirmation', message: '?' },
  elicitation_response: { action: 'accept' },
  error: { status: 'INTERNAL', code: 'E_INTERNAL', message: 'x', fatal: false, retryable: false },
  stream_end: { reason: 'completed', data: {} },
  custom: { data: null },
};

export const initialize: Sketch = { type: 'initialize' };
export const end: Sketch = { type: 'stream_end' };
export const text = (value: string) => ({ type: 'text', text: value });
export const thought = (value: string) => ({ type: 'thought', thought: value });

export function partial(messageId: string, part: number, content: unknown, more: object = {}): Sketch {
  return { type: 'message', partial: true, content: [content], _meta: { messageId, part }, ...more };
}

export function message(messageId: string, content: unknown[], more: object = {}): Sketch {
  return { type: 'message', content, _meta: { messageId }, ...more };
}

export const request = (requestId: string, more: object = {}): Sketch => ({ type: 'tool_request', requestId, ...more });
export const response = (requestId: string, more: object = {}): Sketch => ({
  type: 'tool_response',
  requestId,
  ...more,
});
export const ask = (requestId: string, more: object = {}): Sketch => ({
  type: 'elicitation_request',
  requestId,
  ...more,
});
export const answer = (requestId: string, more: object = {}): Sketch => ({
  type: 'elicitation_response',
  requestId,
  ...more,
});
export const pendingEnd = (...ids: string[]): Sketch => ({
  type: 'stream_end',
  reason: 'input_required',
  data: { pending: ids.map((requestId) => ({ requestId })) },
});
