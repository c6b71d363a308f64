import { expect, test } from 'vitest';
import { redactEvent, redactionsOf } from '../../src/adapters/audit/redact-event.ts';
import { agentQuestionId } from '../../src/contracts/values/question-id.ts';
import { createEvent } from '../../src/runtime/index.ts';

test('an answer about a call whose id holds a # is redacted as the call is', () => {
  const callId = 'call#7';
  const question = agentQuestionId(callId, 0);
  const args = { card: '4111-secret' };
  const events = [
    createEvent({
      author: 'bot',
      content: { role: 'model', parts: [{ type: 'function_call', id: callId, name: 'pay', args }] },
    }),
    createEvent({
      author: 'user',
      actions: { answers: { [question]: { action: 'accept', args: { card: '4222-edited' } } } },
    }),
  ];
  const hidden = redactionsOf(events, { rules: [{ tool: 'pay', args: ['/card'] }] });
  const shown = events.map((event) => JSON.stringify(redactEvent(event, hidden)));
  expect(shown.filter((text) => /4111-secret|4222-edited/.test(text))).toEqual([]);
  expect(shown[1]).toContain(question);
});
