import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_VERSION } from '../../src/contracts/index.ts';
import { installInto, npm, quickly } from './packing.ts';

const root = join(import.meta.dirname, '../..');
/** Those with a test of their own, for what they take to install and build. */
const apart = ['next'];
const examples = readdirSync(join(root, 'examples')).filter((name) => name !== 'README.md' && !apart.includes(name));

/** How `npm start` of each ends without a key and a terminal, and what it prints on the way. */
const outcomes: Readonly<Record<string, readonly [code: number, printed: RegExp]>> = {
  'auto-tools': [0, /That is 390\./],
  executors: [0, /The stand-in says: \d{4}-/],
  mcp: [0, /office asks: Run post_entry\?[\s\S]*It is done\./],
  'minimal-executor': [0, /conformant/],
  notes: [4, /Run save_note\?/],
  patterns: [0, /# plugin[\s\S]*club: Ann rows on Mondays\.[\s\S]*skipper: /],
  remote: [0, /anna reads: It is paid back\./],
  workspace: [4, /approvals approve/],
};

let home: string;
let tarball: string;
let fault = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'coxswain-examples-'));
  ({ tarball, fault } = installInto(home, others()));
  // As the page says of an installed package: the folders are copied beside node_modules.
  if (fault === '') cpSync(join(home, 'node_modules/coxswain/examples'), home, { recursive: true });
}, 600_000);
afterAll(() => rmSync(home, { recursive: true, force: true }), 120_000);

/** What the examples need beside the package. */
function others(): string[] {
  const all = examples.flatMap((name) => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'examples', name, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    return Object.entries(dependencies).map(([other, range]) => `${other}@${range}`);
  });
  return [...new Set(all)].filter((each) => !each.startsWith('coxswain@'));
}

/** They serve until they are ended; what they print when they listen, and a word of their page's program. */
const servers: Readonly<Record<string, readonly [listens: RegExp, program: string]>> = {
  chat: [/^Open (http:\S+)/m, 'addToolApprovalResponse'],
  page: [/^Open (http:\S+)/m, 'sessionStore'],
  react: [/^Open (http:\S+)/m, 'useSyncExternalStore'],
};

test('D18 every example is tried, and none reaches outside its folder', () => {
  expect(examples.toSorted()).toEqual([...Object.keys(outcomes), ...Object.keys(servers)].toSorted());
  const outside = examples.flatMap((name) =>
    readdirSync(join(root, 'examples', name), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .filter((path) => /from '(?:\.\.\/)+src\//.test(readFileSync(join(root, 'examples', name, path), 'utf8'))),
  );
  expect(outside).toEqual([]);
});

test.for(Object.entries(outcomes))(
  'D18 %s runs from the installed package, copied out of node_modules',
  { timeout: 300_000 },
  ([name, [code, printed]], { skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const { status, said } = npm(join(home, name), 'start');
    expect(said).toMatch(printed);
    expect(status).toBe(code);
  },
);

test.for(Object.entries(servers))(
  'D18 %s serves from the installed package, copied out of node_modules',
  { timeout: 300_000 },
  async ([name, [listens, part]], { skip }) => {
    if (fault !== '') skip(`the registry is not reachable (${fault})`);
    const child = spawn(process.execPath, ['main.ts'], {
      cwd: join(home, name),
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const left = once(child, 'exit');
    let said = '';
    for await (const piece of child.stdout.setEncoding('utf8')) {
      said += piece;
      if (listens.test(said)) break;
    }
    const [, url = ''] = listens.exec(said) ?? [];
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<!doctype html>')]);
    const program = await (await fetch(`${url}/page.js`)).text();
    expect(program).toContain(part);
    child.kill();
    await left;
  },
);

test('D18 an example installs and runs where the package was unpacked', { timeout: 600_000 }, ({ skip }) => {
  if (fault !== '') skip(`the registry is not reachable (${fault})`);
  expect(spawnSync('tar', ['xf', tarball], { cwd: home }).status).toBe(0);
  const folder = join(home, 'package/examples/remote');
  const { status, said } = npm(folder, 'install', '--install-links', ...quickly);
  expect([status, status === 0 ? '' : said]).toEqual([0, '']);
  expect(npm(folder, 'start').said).toMatch(/anna reads: It is paid back\./);
});

test('coxswain init makes a project that installs, starts and passes its test', { timeout: 600_000 }, ({ skip }) => {
  if (fault !== '') skip(`the registry is not reachable (${fault})`);
  const made = npm(home, 'exec', '--', 'coxswain', 'init', 'made/My Agent');
  expect([made.status, made.said]).toEqual([0, expect.stringContaining("cd 'made/My Agent'\nnpm install\n")]);
  const folder = join(home, 'made/My Agent');
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(manifest).toMatchObject({ name: 'my-agent', dependencies: { coxswain: `^${PACKAGE_VERSION}` } });
  const { status, said } = npm(folder, 'install', ...quickly, tarball);
  expect([status, status === 0 ? '' : said]).toEqual([0, '']);
  const tested = npm(folder, 'test');
  expect(tested.said).toMatch(/pass 2\b[\s\S]*fail 0\b/);
  const started = npm(folder, 'start');
  expect([started.status, started.said]).toEqual([4, expect.stringContaining('Run save_note?')]);
  const ran = npm(folder, 'start', '--', '--approve', 'allow', 'Buy oil.');
  expect([ran.status, readFileSync(join(folder, 'notes.txt'), 'utf8')]).toEqual([0, 'Buy oil.\n']);
});
