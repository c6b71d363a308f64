import { expect, test } from 'vitest';
import { Assembler } from '../../src/session/resume/index.ts';

const base = { sessionId: 's', streamId: 'x', turnId: 't', timestamp: '2026-11-30T12:00:00Z' };
const frame = (messageId: string, part: number, text: string, partial: boolean) =>
  ({
    event: {
      ...{ ...base, type: 'message', role: 'agent', id: `${messageId}-${part}`, content: [{ type: 'text', text }] },
      ...(partial ? { partial } : {}),
      _meta: { messageId, part },
    },
    ...(partial ? { at: 0 } : {}),
  }) as never;

test.each([
  ['messages', (n: number) => frame(`m${n}`, 0, 'a', true)],
  ['parts of one message', (n: number) => frame('m', n, 'a', true)],
])('ATK7-16 a client of a server that begins %s without an end follows a thousand of them', (_, begun) => {
  const assembler = new Assembler();
  const shown = Array.from({ length: 1500 }, (__, n) => assembler.take(begun(n)).length);
  expect(shown.reduce((sum, one) => sum + one, 0)).toBe(1000);
  // One that is whole is shown, followed or not.
  expect(assembler.take(frame('m1200', 0, 'all of it', false))).toHaveLength(1);
});

test('ATK7-16 a message that has become whole makes room for another', () => {
  const assembler = new Assembler();
  for (let n = 0; n < 3000; n++) {
    expect(assembler.take(frame(`m${n}`, 0, 'a', true))).toHaveLength(1);
    expect(assembler.take(frame(`m${n}`, 0, 'a', false))).toHaveLength(1);
  }
});
