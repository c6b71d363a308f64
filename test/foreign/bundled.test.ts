import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bot, hostOf } from '../host/kit.ts';
import { project } from '../packed.ts';
import { serving } from '../websocket/kit.ts';
import type { Job } from './bundlers.ts';
import { bundlers, missing } from './bundlers.ts';

if (missing !== undefined) console.warn(`bundlers are not tested: ${missing}`);

let home: ReturnType<typeof project>;
/** No package is anywhere above it. */
let bare: string;
beforeAll(() => {
  home = project({ 'zod-3': 'zod-3' });
  cpSync(join(import.meta.dirname, 'apps'), home.folder, { recursive: true });
  bare = mkdtempSync(join(tmpdir(), 'coxswain-bundled-'));
}, 300_000);
afterAll(() => {
  home[Symbol.dispose]();
  rmSync(bare, { recursive: true, force: true });
});

const run = promisify(execFile);
const came = {
  reason: 'completed',
  text: 'end',
  denied: ['pay'],
  got: [
    ['pay', { eur: 5 }],
    ['four', { eur: 7 }],
    ['three', { eur: 1, kind: 'a' }],
  ],
  // Optional packages are left out, and their absence is told where they are needed.
  missing: {
    model: 'E_MODEL_SETUP',
    sql: 'E_STORE',
    toolset: 'E_UNSUPPORTED',
    server: 'E_UNSUPPORTED',
    socket: 'E_UNSUPPORTED',
    cedar: 'E_UNSUPPORTED',
    acp: 'E_UNSUPPORTED',
  },
};

test('HUNT-F3 the published files do what the sources do', async () => {
  const { stdout } = await run(process.execPath, ['server.mjs'], { cwd: home.folder });
  expect(JSON.parse(stdout)).toEqual(came);
});

describe.skipIf(missing !== undefined).each(Object.keys(bundlers))('HUNT-F3 bundled by %s', (name) => {
  const make = async (entry: string, platform: Job['platform']): Promise<string> => {
    const extension = platform === 'browser' ? 'js' : name.endsWith('CommonJS') ? 'cjs' : 'mjs';
    const folder = join(bare, name.replaceAll(' ', '-'), platform);
    const outfile = join(folder, `app.${extension}`);
    await bundlers[name]?.({ folder: home.folder, entry, outfile, platform });
    return outfile;
  };

  test('a program runs where there are no packages', async () => {
    const { stdout } = await run(process.execPath, [await make('server.mjs', 'node')], { cwd: bare });
    expect(JSON.parse(stdout)).toEqual(came);
  });

  test.skipIf(name.endsWith('CommonJS'))('a page runs with nothing of Node', async () => {
    const code = readFileSync(await make('page.mjs', 'browser'), 'utf8');
    const { host } = hostOf(bot([{ deltas: ['Hel', 'lo'] }]));
    const server = await serving(host);
    const page = createContext({ address: server.url, ...ofBrowsers() });
    runInContext(code, page);
    expect(JSON.parse(await (page.answer as Promise<string>))).toEqual({
      reason: 'completed',
      text: 'Hello',
      faults: 0,
      refused: 'E_UNSUPPORTED',
    });
  });
});

/** What a page has beside the language, and the client uses. */
function ofBrowsers(): Record<string, unknown> {
  const { WebSocket, URL, AbortController, AbortSignal, DOMException, TextEncoder, TextDecoder, crypto, fetch } =
    globalThis;
  const {
    setTimeout,
    clearTimeout,
    queueMicrotask,
    structuredClone,
    performance,
    Event,
    EventTarget,
    btoa,
    atob,
    setInterval,
    clearInterval,
  } = globalThis;
  return {
    ...{ WebSocket, URL, AbortController, AbortSignal, DOMException, TextEncoder, TextDecoder, crypto, fetch },
    ...{
      setTimeout,
      clearTimeout,
      queueMicrotask,
      structuredClone,
      performance,
      Event,
      EventTarget,
      btoa,
      atob,
      setInterval,
      clearInterval,
    },
  };
}
