import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { executablePath } from '../chromium.ts';
import { drivesLetters } from '../react/letters-page.ts';
import { installInto, ofUsers } from './packing.ts';

const root = join(import.meta.dirname, '../..');
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  peerDependencies: { react: string };
};
/** The oldest that the package says it works with. */
const [, oldest = ''] = /^\^([\d.]+)/.exec(peerDependencies.react) ?? [];

let home: string;
let fault = '';
beforeAll(() => {
  if (executablePath === undefined) return;
  expect(oldest).toMatch(/^18\./);
  home = mkdtempSync(join(tmpdir(), 'coxswain-react-'));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'examples/react/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const others = Object.entries(dependencies).filter(([name]) => !/^(?:coxswain|react|react-dom)$/.test(name));
  ({ fault } = installInto(home, [
    ...others.map(([name, range]) => `${name}@${range}`),
    `react@${oldest}`,
    `react-dom@${oldest}`,
  ]));
  if (fault === '')
    cpSync(join(home, 'node_modules/coxswain/examples/react'), join(home, 'react'), { recursive: true });
}, 600_000);
beforeEach(({ skip }) => {
  if (fault !== '') skip(`the registry is not reachable (${fault})`);
});
afterAll(() => home && rmSync(home, { recursive: true, force: true }), 120_000);

/** As its user starts it; its store is in the folder that it is started in. */
async function start({ port = 0, store = '' }: { port?: number; store?: string }) {
  const installed = JSON.parse(readFileSync(join(home, 'node_modules/react/package.json'), 'utf8')) as object;
  expect(installed).toMatchObject({ version: oldest });
  const child = spawn(process.execPath, [join(home, 'react/main.ts')], {
    cwd: dirname(store),
    env: { ...ofUsers(), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const left = once(child, 'exit');
  let said = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    said += piece;
    if (/^Open http/m.test(said)) break;
  }
  const [, url = ''] = /^Open (http:\S+)/m.exec(said) ?? [];
  const close = async () => {
    child.kill('SIGKILL');
    await left;
  };
  return { url, close };
}

drivesLetters(` with React ${oldest}`, start);
