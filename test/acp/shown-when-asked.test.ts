import { expect, test } from 'vitest';
import { AcpCall } from '../../src/adapters/acp/calls/call.ts';

const diff = (path: string) => ({ type: 'diff' as const, path, oldText: null, newText: 'x' });

function asked(): AcpCall {
  const call = new AcpCall('c', new Set());
  expect(call.ask({ toolCallId: 'c', kind: 'execute', title: 'ls', content: [diff('/w/a')] })).toBe(true);
  return call;
}

test.each([
  ['another command', { title: 'rm -r /' }],
  ['another kind of work', { kind: 'delete' }],
] as const)(
  'IOP-A2 sibling: a yes is to what was asked, not to what is told while it is thought about: %s',
  (_, told) => {
    const call = asked();
    call.merge({ toolCallId: 'c', ...told });
    call.allow();
    call.merge({ toolCallId: 'c', status: 'in_progress' });
    expect(call.breach).toBe('is another call than the one that was allowed');
  },
);

test.each([
  ['before the yes', true],
  ['after it', false],
])('IOP-A2 sibling: a file that a call names %s was not shown by its question', (_, isBefore) => {
  const call = asked();
  const names = () => call.merge({ toolCallId: 'c', content: [diff('/w/a'), diff('/w/secret')] });
  if (isBefore) names();
  expect(call.hasShown('/w/a')).toBe(false);
  call.allow();
  if (!isBefore) names();
  expect([call.hasShown('/w/a'), call.hasShown('/w/secret')]).toEqual([true, false]);
  call.merge({ toolCallId: 'c', status: 'in_progress' });
  expect(call.breach).toBeUndefined();
});
