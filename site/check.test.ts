import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultsOf } from './check.ts';

// Run by `npm run docs`: `npm test` has no parser of HTML.
function faultsIn(body: string, base = '/'): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-site-'));
  try {
    mkdirSync(join(folder, 'guide'));
    writeFileSync(join(folder, 'index.html'), '<h2 id="start">Start</h2>');
    writeFileSync(join(folder, 'logo.svg'), '');
    writeFileSync(join(folder, 'guide/index.html'), `<h2 id="here">Here</h2>${body}`);
    return faultsOf(folder, base);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('links, anchors and resources of the site that are there are no faults, nor are links that lead out', () => {
  const good = [
    '#here',
    './#here',
    '../',
    '../#start',
    '/',
    '/guide/#here',
    'https://example.com/x',
    'mailto:a@b.example',
  ];
  const links = good.map((href) => `<a href="${href}">x</a>`).join('');
  assert.deepEqual(faultsIn(`${links}<img src="/logo.svg"><img src="data:image/png;base64,x">`), []);
  assert.deepEqual(faultsIn('<a href="/below/guide/#here">x</a>', '/below'), []);
});

for (const body of [
  '<a href="../gone/">x</a>',
  '<a href="../#gone">x</a>',
  '<a href="#gone">x</a>',
  '<img src="/gone.svg">',
  '<img srcset="/logo.svg 1x, https://example.com/logo.svg 2x">',
  '<script src="https://example.com/a.js"></script>',
  '<link rel="stylesheet" href="//example.com/a.css">',
  '<p style="background: url(https://example.com/a.png)">x</p>',
  '<style>@import "https://example.com/a.css";</style>',
])
  test(`a fault of the site: ${body}`, () => {
    assert.equal(faultsIn(body).length, 1);
  });

test('a link past the place where the site lies is a fault', () => {
  assert.equal(faultsIn('<a href="/guide/">x</a>', '/below/').length, 1);
});
