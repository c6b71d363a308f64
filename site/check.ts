import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Parser } from 'htmlparser2';

interface Shape {
  readonly ids: ReadonlySet<string>;
  /** Where a reader may go: `<a href>`. */
  readonly links: readonly string[];
  /** What a browser loads by itself. */
  readonly loads: readonly string[];
}

/** Elements that load what they name. Of `link`, only some do. */
const loading: Readonly<Record<string, readonly string[]>> = {
  script: ['src'],
  img: ['src', 'srcset'],
  source: ['src', 'srcset'],
  video: ['src', 'poster'],
  audio: ['src'],
  iframe: ['src'],
  object: ['data'],
  embed: ['src'],
  link: ['href'],
};
const named = /^(canonical|alternate|prev|next|sitemap)$/;

function shapeOf(html: string): Shape {
  const ids = new Set<string>();
  const links: string[] = [];
  const loads: string[] = [];
  let isStyle = false;
  const parser = new Parser({
    ontext(text) {
      if (isStyle) loads.push(...addressesIn(text));
    },
    onclosetag() {
      isStyle = false;
    },
    onopentag(name, attributes) {
      const { id, href, style, rel = '' } = attributes;
      isStyle = name === 'style';
      if (id !== undefined) ids.add(id);
      if (name === 'a' && href !== undefined) links.push(href);
      if (style !== undefined) loads.push(...addressesIn(style));
      if (name === 'link' && named.test(rel)) return;
      for (const attribute of loading[name] ?? []) {
        const value = attributes[attribute];
        if (value !== undefined)
          loads.push(
            ...(attribute === 'srcset' ? value.split(',').map((each) => each.trim().split(/\s+/)[0] ?? '') : [value]),
          );
      }
    },
  });
  parser.end(html);
  return { ids, links, loads };
}

function addressesIn(css: string): string[] {
  return [...css.matchAll(/(?:@import\s+|url\(\s*)(["']?)([^"')\s]+)\1/g)].map(([, , address = '']) => address);
}

const isOutside = (address: string): boolean => /^(https?:)?\/\//.test(address);
const isData = (address: string): boolean => /^(data|blob|mailto|javascript):/.test(address);

/** Links and anchors of a built site that lead nowhere, and what it loads from elsewhere. */
export function faultsOf(folder: string, base: string): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((path) => {
      const page = path.replaceAll('\\', '/');
      return [page, shapeOf(readFileSync(join(folder, page), 'utf8'))] as const;
    }),
  );
  const faults = new Set<string>();
  for (const [page, { links, loads }] of pages) {
    for (const address of loads) {
      if (isOutside(address)) faults.add(`${page}: loads ${address} from elsewhere`);
      else if (!isData(address) && fileOf(page, address) === undefined) faults.add(`${page}: ${address} is not there`);
    }
    for (const link of links) {
      if (isOutside(link) || isData(link)) continue;
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : fileOf(page, path);
      if (file === undefined) faults.add(`${page}: ${link} is not there`);
      else if (anchor && pages.get(file)?.ids.has(decodeURIComponent(anchor)) === false)
        faults.add(`${page}: ${link}: no such place in ${file}`);
    }
  }
  for (const path of globSync('**/*.css', { cwd: folder }))
    for (const address of addressesIn(readFileSync(join(folder, path), 'utf8')))
      if (isOutside(address)) faults.add(`${path}: loads ${address} from elsewhere`);
  return [...faults];

  function fileOf(page: string, address: string): string | undefined {
    const [clean = ''] = address.split(/[?#]/);
    const from = `${base.replace(/\/$/, '')}/${page === '404.html' ? '' : dirname(page)}/`;
    const { pathname } = new URL(clean, `file://${from}`);
    if (!pathname.startsWith(base)) return undefined;
    const path = decodeURIComponent(pathname.slice(base.length)).replace(/^\//, '');
    const file = path === '' || path.endsWith('/') ? posix.join(path, 'index.html') : path;
    return existsSync(join(folder, file)) ? file : undefined;
  }
}
