import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source.ts';

// docs/decisions/2026-11-29-one-vocabulary.md: one word for one thing. A former word stands where its readers are, and nowhere else.
const decision = 'docs/decisions/2026-11-29-one-vocabulary.md';
const self = 'test/structure/vocabulary.test.ts';

interface Former {
  word: RegExp;
  /** What is written instead. */
  now: string;
  /** Where alone it is looked for; absent: everywhere. */
  within?: string;
  /** Files where it may still stand. */
  stays: readonly string[];
}

const formers: readonly Former[] = [
  {
    word: /ask_user\b/,
    now: 'ask',
    stays: [
      'src/contracts/values/policy-outcome.ts',
      'test/gate/policy.test.ts',
      'test/host/policy-wiring.test.ts',
      'test/older/scenario.ts',
      'test/policy/former-outcome.test.ts',
      'test/types/tasks/wrong.ts',
    ],
  },
  {
    word: /\b(createHost|fromAgent|fromAcp|fromGoogleAdk|new Runner)\([^;()]*[{,]\s*sessions\s*[:,}]/,
    now: 'store',
    stays: ['test/input/former-store.test.ts'],
  },
  {
    word: /\binterceptorPlugin\b|\binterceptors\s*[:?]/,
    now: 'hooksPlugin, hooks',
    stays: [
      'api/coxswain-auto-tools.api.md',
      'src/adapters/auto-tools/options-shape.ts',
      'src/adapters/auto-tools/options.ts',
      'test/auto-tools/hooks.test.ts',
    ],
  },
  { word: /PolicyVerdict\b/, now: 'PolicyOutcome', stays: [] },
  { word: /pendingRequest\b|pending-request\b/i, now: 'ReportedRequest', stays: [] },
  { word: /"Event"/, now: 'StoredEvent', within: 'api/names.json', stays: [] },
];

const files = [
  'src',
  'test',
  'docs',
  'examples',
  'scripts',
  'spec',
  'bench',
  'api',
  'site',
  'README.md',
  'CHANGELOG.md',
]
  .flatMap((top) =>
    statSync(join(root, top)).isFile()
      ? [top]
      : readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)),
  )
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.(ts|tsx|js|mjs|md|json|ya?ml|py|html|rego|cedar)$/.test(path))
  .filter((path) => !/node_modules|\/generated\/|\/dist\//.test(path) && path !== self && path !== decision);
const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

test.each(formers)('$word is written $now', ({ word, within = '', stays }) => {
  const found = files.filter((path) => path.startsWith(within) && word.test(texts.get(path) ?? ''));
  expect(found.sort()).toEqual([...stays].sort());
});
