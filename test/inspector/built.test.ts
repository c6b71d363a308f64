import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtPage } from '../chromium-of-run.ts';

const sources = join(import.meta.dirname, '../../inspector/src');
/** What the page may be made of: its own files, these packages, and the client that anybody has. */
const granted = /^(\.{1,2}\/|preact($|\/hooks$)|@preact\/signals$|@tanstack\/virtual-core$|diff$|coxswain\/client$)/;

test('the page is made of its own files, the granted packages and the public client', () => {
  const imports = readdirSync(sources, { recursive: true })
    .map(String)
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => [...readFileSync(join(sources, file), 'utf8').matchAll(/(?:from|import) '([^']+)'/g)])
    .map(([, specifier]) => specifier ?? '');
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter((specifier) => !granted.test(specifier))).toEqual([]);
  expect(imports.filter((specifier) => specifier.includes('../../../'))).toEqual([]);
});

test('the first load is at most 150 KB compressed; nothing is inline, nothing comes from elsewhere', async () => {
  const folder = await builtPage();
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const assets = readdirSync(join(folder, 'assets')).map((name) => readFileSync(join(folder, 'assets', name)));
  const size = [Buffer.from(page), ...assets].reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(size).toBeLessThan(150 * 1024);
  expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src=)/);
  expect([...page.matchAll(/(?:src|href)="([^"]+)"/g)].filter(([, at]) => !at?.startsWith('./assets/'))).toEqual([]);
  const code = assets.map(String).join('\n');
  expect(code).not.toMatch(/\beval\(|new Function\(|dangerouslySetInnerHTML:/);
});
