import { expect, test } from 'vitest';
import type { AgentEvent, ReportedRequest } from '../../../src/contracts/index.ts';
import { CheckAllowance } from '../../../src/host/questions/check-allowance.ts';
import { SubagentEvents } from '../../../src/host/subagents/subagent-events.ts';

const call = { sessionId: 's', turnId: 't' } as ReportedRequest;
const event = (type: AgentEvent['type'], requestId: string) => ({ type, requestId }) as AgentEvent;

test('ATK5-05 of calls and questions that a sub-agent names without an end the newest 10,000 are known as shown', () => {
  const events = new SubagentEvents();
  const isShown = (type: AgentEvent['type'], id: string) => events.moved(event(type, id), call, 'x') !== undefined;
  for (let n = 0; n < 10_002; n++) {
    isShown('tool_request', `c${n}`);
    isShown('elicitation_request', `q${n}`);
  }
  expect(['c0', 'c1', 'c2', 'c10001'].map((id) => isShown('tool_response', id))).toEqual([false, false, true, true]);
  expect(['q1', 'q2', 'q10001'].map((id) => events.hasAsked(id))).toEqual([false, true, true]);
});

test('ATK5-05 a call that is no longer known as looked at takes of the effort of its turn again', () => {
  const allowance = new CheckAllowance();
  const of = (callId: string) => allowance.of({ ...call, requestId: callId }) !== undefined;
  for (let n = 0; n <= 100_000; n++) of(`c${n}`);
  expect(['c100000', 'c0'].map(of)).toEqual([false, true]);
});
