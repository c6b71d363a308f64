import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, posix } from 'node:path';
import { root, tokensOf } from '../test/pages/blocks.ts';
import type { Section } from './navigation.ts';
import { routeOf, sections } from './navigation.ts';

export interface Page {
  /** Its path in the project, which its links start from. */
  readonly path: string;
  readonly route: string;
  readonly text: string;
}

/** All pages of a section, those of its folder behind the listed ones. */
export function pagesOf({ pages, folder }: Section): string[] {
  const found = folder === undefined ? [] : globSync(`${folder}/*.md`, { cwd: root });
  return [...pages, ...found.map((path) => path.replaceAll('\\', '/')).toSorted()];
}

/** The pages that the navigation names, as they stand in the project. */
export function projectPages(): Page[] {
  return sections.flatMap((section) =>
    pagesOf(section).map((path) => ({ path, route: routeOf(path), text: readFileSync(join(root, path), 'utf8') })),
  );
}

/** A list of the pages or files of a folder, the newest first where names have dates. */
function listOf(folder: string, rows: readonly { name: string; href: string }[]): string {
  const name = basename(folder);
  return `# ${name.charAt(0).toUpperCase()}${name.slice(1)}\n\n${rows.map(({ name, href }) => `- [${name}](${href})`).join('\n')}\n`;
}

/** Writes pages as the generator wants them: a title of their own, links that lead to the site's addresses. */
export function stage(pages: readonly Page[], into: string, files: string): void {
  const known = new Map(pages.map((page) => [page.path, page.route]));
  const waiting = [...pages];
  for (const { folder } of sections) if (folder !== undefined) addressOf(folder);
  for (let page = waiting.shift(); page; page = waiting.shift()) {
    const { path, route, text } = page;
    const hrefs = new Set(
      tokensOf(text).flatMap((token) => (token.type === 'link' || token.type === 'image' ? [String(token.href)] : [])),
    );
    const links = new Map(
      [...hrefs]
        .filter((href) => !/^([a-z]+:|#)/.test(href))
        .map((href) => {
          const [target = '', anchor] = href.split('#');
          const file = normalize(join(dirname(path), target))
            .replaceAll('\\', '/')
            .replace(/\/$/, '');
          const at = addressOf(file);
          return [href, `${relativeTo(route, at)}${anchor === undefined ? '' : `#${anchor}`}`];
        }),
    );
    write(join(into, `${route || 'index'}.md`), asPage(path, text, links));
  }

  function addressOf(file: string): string {
    const readme = `${file}/README.md`;
    const route = known.get(file) ?? known.get(readme);
    if (route !== undefined) return route === '' ? '' : `${route}/`;
    const source = join(root, file);
    if (!existsSync(source)) throw new Error(`A page links to ${file}, which is not there`);
    if (!statSync(source).isDirectory()) {
      mkdirSync(dirname(join(files, file)), { recursive: true });
      cpSync(source, join(files, file));
      return file;
    }
    const own = routeOf(file);
    known.set(file, own);
    const rows = globSync('*.*', { cwd: source })
      .toSorted((a, b) => dateOf(b).localeCompare(dateOf(a)) || a.localeCompare(b))
      .map((href) => ({ name: titleOf(join(source, href)), href }));
    waiting.push({ path: `${file}/README.md`, route: own, text: listOf(file, rows) });
    return `${own}/`;
  }
}

function titleOf(file: string): string {
  const [, title] = (file.endsWith('.md') && /^# (.+)$/m.exec(readFileSync(file, 'utf8'))) || [];
  const date = dateOf(basename(file));
  return title === undefined ? basename(file) : `${title}${date && ` (${date})`}`;
}

/** The date that a file's name begins with, or none. */
function dateOf(name: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(name)?.[0] ?? '';
}

/** Addresses are relative, so that the site may lie anywhere. */
function relativeTo(route: string, address: string): string {
  const way = posix.relative(`/${route}`, `/${address}`);
  const slash = address === '' || address.endsWith('/') ? '/' : '';
  return way === '' ? './' : `${way}${slash}`;
}

/** In a search, a page that explains a thing comes before the many that name it in passing. */
const inPassing = /^(api-reference|docs\/decisions)\//;

function asPage(path: string, text: string, links: ReadonlyMap<string, string>): string {
  const [, heading = ''] = /^# (.+)$/m.exec(text) ?? [];
  // A changelog is written by a tool, which calls it as the package.
  const title = path === 'CHANGELOG.md' ? 'Changelog' : heading.replaceAll(/[`\\]/g, '');
  const body = withoutTitle(text)
    // The generator would look for the file beside the page and change it; it is shown as it is.
    .replaceAll(/!\[([^\]]*)\]\(([^()\s]+)\)/g, (_, alt: string, href: string) => {
      return `<img alt="${alt.replaceAll('"', '&quot;')}" src="${links.get(href) ?? href}">`;
    })
    .replaceAll(/\]\(([^()\s]+)\)/g, (whole, href: string) => {
      const to = links.get(href);
      return to === undefined ? whole : `](${to})`;
    })
    .replaceAll(/^( *)```(\w+) (.+)$/gm, (_, indent: string, language: string, words: string) => {
      const [, file] = /\bfile=(\S+)/.exec(words) ?? [];
      return `${indent}\`\`\`${language}${file === undefined ? '' : ` title="${file}"`}`;
    });
  const shown = inPassing.test(path) ? `<div data-pagefind-weight="0.2">\n\n${body}\n\n</div>\n` : body;
  return `---\ntitle: ${JSON.stringify(title)}\n---\n${shown}`;
}

/** What follows the title. Behind a second title every heading is one lower: a page of the site has one. */
function withoutTitle(text: string): string {
  let titles = 0;
  let isCode = false;
  const lines = text.split('\n').flatMap((line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    if (isCode || !/^#+ /.test(line)) return [line];
    if (line.startsWith('# ')) titles++;
    if (titles === 1) return line.startsWith('# ') ? [] : [line];
    return [`#${line}`];
  });
  return lines.join('\n');
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
