import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routeOf, sections } from '../../site/navigation.ts';
import { pagesOf } from '../../site/stage.ts';
import { pagePaths, root } from '../pages/blocks.ts';

const listed = sections.flatMap(pagesOf);

test('every page is in the navigation of the site, once', () => {
  expect(pagePaths().filter((page) => !listed.includes(page))).toEqual([]);
  expect(listed.filter((page, at) => listed.indexOf(page) !== at)).toEqual([]);
});

test('the navigation of the site names pages that are there, each with an address of its own', () => {
  expect(listed.filter((page) => globSync(page, { cwd: root }).length === 0)).toEqual([]);
  const routes = listed.map(routeOf);
  expect(routes.filter((route, at) => routes.indexOf(route) !== at)).toEqual([]);
});

test('the site names nothing that a browser would load from elsewhere', () => {
  const files = globSync('site/{*,src/**/*,public/**/*}.*', {
    cwd: root,
    exclude: ['site/package-lock.json', 'site/*.test.ts'],
  });
  expect(files.length).toBeGreaterThan(5);
  // What SVG is called is no address.
  const outside = /(https?:)?\/\/(?!www\.w3\.org\/2000\/svg")[\w-]+\.\w/;
  expect(files.filter((file) => outside.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test('the site has exact versions and a lockfile without download addresses', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'site/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  expect(readFileSync(join(root, 'site/package-lock.json'), 'utf8')).not.toMatch(/"resolved":\s*"[a-z+]+:/);
});
