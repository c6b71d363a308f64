import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { ModelServer } from '../../src/conformance/index.ts';
import { createHost } from '../../src/index.ts';
import { endOf, responsesOf, say, texts } from '../dispatch/agent-kit.ts';
import { installed } from '../installed.ts';

const folder = join(import.meta.dirname, 'gemini-cli');
const missing = installed(folder);
if (missing !== undefined) console.warn(`gemini-cli is not tested: ${missing}`);

/** Its settings: a key, no update, nothing told to anybody. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
};

test.skipIf(missing !== undefined)(
  'gemini-cli under a host: words, a write that is denied, one that is allowed, a read that is recorded',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'gemini-cli-'));
    const [home, cwd] = [join(place, 'home'), join(place, 'project')];
    mkdirSync(join(home, '.gemini'), { recursive: true });
    mkdirSync(cwd);
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    const write = (name: string) => ({ name: 'write_file', args: { file_path: join(cwd, name), content: 'new' } });
    await using server = await ModelServer.start({
      script: [
        { text: 'hello from afar' },
        { calls: [write('denied.txt')] },
        { text: 'a pity' },
        { calls: [write('allowed.txt')] },
        { calls: [{ name: 'read_file', args: { file_path: join(cwd, 'allowed.txt') } }] },
        { text: 'written and read' },
      ],
      // Its side questions (which model, a title) have no tools.
      aside: ({ body }) => (body.tools ? undefined : { text: '{"reasoning":"none","model_choice":"flash"}' }),
    });
    const source = fromAcp({
      name: 'gemini',
      command: process.execPath,
      args: [join(folder, 'node_modules/@google/gemini-cli/bundle/gemini.js'), '--acp', '--model', 'gemini-2.5-flash'],
      cwd,
      env: {
        HOME: home,
        ...server.env,
        GEMINI_CLI_NO_RELAUNCH: '1',
      },
      authMethod: 'gemini-api-key',
      startTimeoutMs: 60_000,
    });
    const asked: unknown[] = [];
    const host = createHost({
      app: 'desk',
      agents: [source],
      onApproval: ({ args, approval }) => {
        asked.push(args);
        const { previewDigest } = approval;
        const isAllowed = JSON.stringify(args).includes('allowed.txt');
        return isAllowed ? { kind: 'approve', previewDigest } : { kind: 'deny', reason: 'not that one' };
      },
    });
    try {
      const session = await host.open('gemini');
      expect(texts(await say(session, 'hi'))).toEqual(['hello from afar']);
      const denied = await say(session, 'write denied.txt');
      expect(responsesOf(denied)).toMatchObject([{ name: 'acp:edit', errorType: 'denied' }]);
      expect(existsSync(join(cwd, 'denied.txt'))).toBe(false);
      const allowed = await say(session, 'write allowed.txt');
      expect(endOf(allowed)).toMatchObject({ reason: 'completed' });
      expect(readFileSync(join(cwd, 'allowed.txt'), 'utf8')).toBe('new');
      expect(texts(allowed)).toEqual(['written and read']);
      expect(responsesOf(allowed).map(({ name, isError }) => [name, isError])).toEqual([
        ['acp:edit', undefined],
        ['acp:read', undefined],
      ]);
      expect(asked).toMatchObject([
        { changes: [{ path: join(cwd, 'denied.txt'), newText: 'new' }] },
        { changes: [{ path: join(cwd, 'allowed.txt'), newText: 'new' }] },
      ]);
    } finally {
      await host.close();
      rmSync(place, { recursive: true, force: true });
    }
  },
  120_000,
);
