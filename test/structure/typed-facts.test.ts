import { expect, test } from 'vitest';
import { sourceFiles } from './source.ts';

// What an executor and its host say to each other beside the contract has types and one reader each.
const readers: [what: string, read: RegExp, place: string][] = [
  ['what events say in _meta', /\bevent\._meta\b/, 'contracts/types/event-notes.ts'],
  ['what a request says of its call', /\bcontext\?\.(?:tool|asked)\b/, 'session/link/announced.ts'],
  [
    'what the runtime notes on a call',
    /\b_meta\??\.(?:hooked|asked?|handledBy|tool|signals|rawArgs)\b/,
    'runtime/log/call-notes.ts',
  ],
];

test.each(readers)('%s is read in one place', (_what, read, place) => {
  const own = ['host', 'runtime', 'session', 'cli', 'contracts', 'adapters/adk', 'adapters/audit', 'adapters/remote'];
  const found = sourceFiles().filter(
    ({ path, code }) => own.some((folder) => path.startsWith(`${folder}/`)) && read.test(code),
  );
  expect(found.map(({ path }) => path).filter((path) => path !== place)).toEqual([]);
});
