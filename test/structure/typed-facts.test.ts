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
  [
    'who answers a question, and how many',
    /\bapprovers\??\.(?:roles|also|notRequester|quorum)\b|\.approvers\?\./,
    'gate/questions/',
  ],
  ['how a result is cut', /\b(?:capResult|capSync)\(/, 'gate/result/'],
  ['when a question runs out', /\bexpiresIn\s*\*|\bask\.expiresAt\s*[<>]/, 'gate/questions/'],
  ['whether an answer is a vote', /\.quorum\s*[!=]==?\s*undefined|\(\{ quorum \}\) => !quorum/, 'session/checks/'],
];

test.each(readers)('%s is read in one place', (_what, read, place) => {
  const own = [
    'gate',
    'host',
    'runtime',
    'session',
    'cli',
    'contracts',
    'adapters/adk',
    'adapters/audit',
    'adapters/remote',
    'dispatch',
  ];
  const found = sourceFiles().filter(
    ({ path, code }) => own.some((folder) => path.startsWith(`${folder}/`)) && read.test(code),
  );
  expect(found.map(({ path }) => path).filter((path) => !path.startsWith(place))).toEqual([]);
});
