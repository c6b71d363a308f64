import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { exceptions, rooms } from '../test/structure/rooms.ts';
import { handedOn, partOf, root } from '../test/structure/source.ts';

/**
 * Writes what follows from the table of rooms: the linter's import rules (`biome.rooms.json`) and the list of rooms in
 * `docs/rooms.md`. `node scripts/generate-rooms.ts`, or `npm run rooms`.
 */

/** Import specifiers of the fronts that a room may use, as its files write them. */
function fronts(from: string, to: string): string[] {
  const relative = posix.relative(posix.join('src', from), posix.join('src', to)) || '.';
  const folder = relative.startsWith('.') ? relative : `./${relative}`;
  const entries = [...handedOn()].filter((entry) => posix.dirname(entry).replace(/^\.$/, '') === to);
  const names = new Set(entries.map((entry) => posix.basename(entry)));
  if (!exceptions.deep.includes(to)) names.add('index.ts');
  else names.add('*.ts');
  return [...names].sort().map((name) => `!${folder}/${name}`);
}

const zodAlone = {
  group: ['**', '!./**', '!../**', '!zod'],
  message: 'src/contracts imports zod and itself only.',
};

export function lintRules(): string {
  const upward = (path: string) =>
    exceptions.upward.flatMap((pair) => (pair.startsWith(`${path} -> `) ? [pair.slice(path.length + 4)] : []));
  const overrides = rooms.map(({ path, imports }) => ({
    includes: [`src/${path === '' ? '' : `${path}/`}*.ts`],
    linter: {
      rules: {
        style: {
          noRestrictedImports: {
            level: 'error',
            options: {
              patterns: [
                {
                  group: ['../**', './*/**', ...[...imports, ...upward(path)].flatMap((to) => fronts(path, to))],
                  message: `src/${path} imports ${imports.join(', ') || 'no other room'}; rooms meet through index.ts. The table is test/structure/rooms.ts.`,
                },
                ...(partOf(`${path}/`) === 'contracts' ? [zodAlone] : []),
              ],
            },
          },
        },
      },
    },
  }));
  return `${JSON.stringify({ root: false, overrides }, undefined, 2)}\n`;
}

const begin = '<!-- rooms: written by scripts/generate-rooms.ts -->\n';
const end = '<!-- rooms end -->\n';

/** The picture of rooms, in the order of imports; the rooms of a part stand below its name. */
export function picture(): string {
  const within = new Set(rooms.flatMap(({ path }) => (path.includes('/') ? [partOf(`${path}/`)] : [])));
  const named = new Set<string>();
  const lines = rooms.flatMap(({ path, holds }) => {
    const part = partOf(`${path}/`);
    const heading = within.has(part) && !named.has(part) ? [part] : [];
    named.add(part);
    // The files of a part that lie in none of the rooms below it: its front.
    const name = path.includes('/') ? path.slice(part.length + 1) : within.has(part) ? '(front)' : path || '(src)';
    return [...heading, `${(within.has(part) ? `  ${name}` : name).padEnd(22)} ${holds}`];
  });
  return `${begin}\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n\n${end}`;
}

export function withPicture(page: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/rooms.md has no place for the rooms: ${begin} … ${end}`);
  return `${before}${picture()}${after}`;
}

if (import.meta.main) {
  const page = join(root, 'docs/rooms.md');
  writeFileSync(join(root, 'biome.rooms.json'), lintRules());
  writeFileSync(page, withPicture(readFileSync(page, 'utf8')));
}
