import { expect, test } from 'vitest';
import { sourceFiles } from './source.ts';

// An async generator that waits for its next item cannot be left: `return()` waits too, and whoever leaves with it. What
// may wait for long is a StreamQueue or is `derived` from one.
const named = /\basync\s*(?:function\s*)?\*\s*(?:events|watch|stream|listen|live)\w*\s*[(<]/i;
const any = /\basync\s*(?:function\s*)?\*/;

/** Folders in which what is iterated belongs to clients, or to servers. */
const boundaries = ['host/connection/', 'host/websocket/', 'host/mcp/'];

test('SOAK-1 what may wait for its next item is no async generator', () => {
  const found = sourceFiles().filter(({ path, code }) =>
    boundaries.some((folder) => path.startsWith(folder)) ? any.test(code) : named.test(code),
  );
  // It refuses `live`, and gives what one answer of the executor held.
  expect(found.map(({ path }) => path)).toEqual(['conformance/stdio/stdio-session.ts']);
});

test.each(['async *events() {', 'async* watch(', 'async function* liveEvents(', 'async function *stream<T>('])(
  'sees the generator in %j',
  (code) => {
    expect([named.test(code.replace('live', '')), any.test(code)]).toEqual([true, true]);
  },
);
