import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pagePaths, readPage, root, tokensOf } from './blocks.ts';

interface Link {
  page: string;
  href: string;
}

const links: Link[] = pagePaths().flatMap((page) =>
  tokensOf(readPage(page)).flatMap((token) =>
    token.type === 'link' || token.type === 'image' ? [{ page, href: String(token.href) }] : [],
  ),
);
const ofProject = links.filter(({ href }) => !/^(https?|mailto):/.test(href));

/** As hosts of repositories name headings. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return tokensOf(readPage(page)).flatMap((token) => {
    if (token.type !== 'heading') return [];
    const slug = String(token.text)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return [times === 0 ? slug : `${slug}-${times}`];
  });
}

test('a link of a page leads to a file that is there, and to a heading of it', () => {
  expect(ofProject.length).toBeGreaterThan(30);
  const broken = ofProject.filter(({ page, href }) => {
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});
