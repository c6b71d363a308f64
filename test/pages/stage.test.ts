import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stage } from '../../site/stage.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-stage-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function staged(text: string): string {
  const pages = [
    { path: 'README.md', route: '', text: '# First' },
    { path: 'docs/a/one.md', route: 'a/one', text },
    { path: 'docs/two.md', route: 'two', text: '# Two' },
  ];
  stage(pages, join(folder, 'pages'), join(folder, 'files'));
  return readFileSync(join(folder, 'pages/a/one.md'), 'utf8');
}

test('a page of the site has its title apart, and addresses of the site that hold wherever it lies', () => {
  const text =
    '# `One` of all\n\n[two](../two.md#part) [first](../../README.md) [here](#part) [out](https://example.com)\n';
  expect(staged(text)).toBe(
    '---\ntitle: "One of all"\n---\n\n[two](../../two/#part) [first](../../) [here](#part) [out](https://example.com)\n',
  );
});

test('a page of the site has one title: what follows a second one is a level lower, and code stays as it is', () => {
  const text = '# One\n## In one\n# Other\n## In other\n```sh\n# a comment\n```\n';
  expect(staged(text)).toBe('---\ntitle: "One"\n---\n## In one\n## Other\n### In other\n```sh\n# a comment\n```\n');
});

test('a block that is a file shows its name, and other words for tests of pages are left out', () => {
  expect(staged('# One\n```ts file=agent.ts\n1;\n```\n```sh run exit=4\nfalse\n```\n')).toContain(
    '```ts title="agent.ts"\n1;\n```\n```sh\nfalse\n```\n',
  );
});

test('a picture of a page is copied and shown as it is', () => {
  expect(staged('# One\n![A "terminal"](../images/terminal.svg)')).toContain(
    '<img alt="A &quot;terminal&quot;" src="../../docs/images/terminal.svg">',
  );
  expect(readFileSync(join(folder, 'files/docs/images/terminal.svg'), 'utf8')).toContain('<svg');
});

test('a file that a page links to is copied, a folder is a page that lists it, and what is not there is refused', () => {
  expect(staged('# One\n[schema](../../spec/protocol.schema.json) [decisions](../decisions)')).toContain(
    '[schema](../../spec/protocol.schema.json) [decisions](../../decisions/)',
  );
  expect(readFileSync(join(folder, 'files/spec/protocol.schema.json'), 'utf8')).toContain('$schema');
  expect(readFileSync(join(folder, 'pages/decisions.md'), 'utf8')).toContain('title: "Decisions"');
  expect(() => staged('# One\n[gone](gone.md)')).toThrow('docs/a/gone.md');
});
