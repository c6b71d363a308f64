import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { McpServer } from '@agentclientprotocol/sdk';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import type { ServeAcpOptions } from '../../src/adapters/acp/index.ts';
import type { AnyTool } from '../../src/contracts/index.ts';
import type { AgentHost, HostOptions } from '../../src/index.ts';
import { createHost, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Foreign, serveForeign } from '../mcp/foreign.ts';
import { built } from '../packed.ts';
import { tool } from '../runtime/kit.ts';
import type { Editor } from './editor.ts';
import { editorOf, editorOn } from './editor.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const stdioServer: McpServer = {
  name: 'foreign',
  command: process.execPath,
  args: [path('../mcp/foreign-child.ts')],
  env: [],
};

function hostOf(script: readonly Script[], more: Partial<HostOptions> = {}): AgentHost {
  const agent = new LlmAgent({ name: 'ours', model: new ScriptedModel(script) });
  return createHost({ app: 'shop', warn: () => {}, ...more, agents: [agent] });
}

const call = (name: string, args: unknown = {}): Script => ({ calls: [[name, args]] });
const allow = () => 'allow';

/** `coxswain acp` as an editor starts it. */
async function withCommand(flags: readonly string[], work: (editor: Editor) => Promise<void>): Promise<void> {
  const args = [built('cli.js'), 'acp', built('folder-agent.js'), '--store', 'memory:', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  try {
    const output = Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>;
    const input = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    await work(await editorOn(ndJsonStream(input, output), allow));
    child.stdin.end();
    expect(await exit).toBe(0);
  } finally {
    child.kill();
    await exit;
  }
}

describe('the editor’s own servers and folder', () => {
  test('what coxswain acp has made for a folder ends with the last session in it', async () => {
    const [one, two] = [mkdtempSync(join(tmpdir(), 'acp-')), mkdtempSync(join(tmpdir(), 'acp-'))];
    const ends = (folder: string) =>
      existsSync(join(folder, 'closed.txt')) ? readFileSync(join(folder, 'closed.txt'), 'utf8') : '';
    try {
      await withCommand([], async ({ agent }) => {
        const open = async (cwd: string) => (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId;
        const close = (sessionId: string) => agent.request('session/close', { sessionId });
        const [a, b, c] = [await open(one), await open(one), await open(two)];
        await close(a);
        expect([ends(one), ends(two)]).toEqual(['', '']);
        await close(b);
        expect([ends(one), ends(two)]).toEqual(['closed\n', '']);
        // It is made anew for whoever comes later.
        await close(await open(one));
        await close(c);
        expect([ends(one), ends(two)]).toEqual(['closed\nclosed\n', 'closed\n']);
      });
    } finally {
      for (const folder of [one, two]) rmSync(folder, { recursive: true });
    }
  });

  test('IOP-A4 coxswain acp runs a tool of the editor’s server, after a yes, for the editor’s folder', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'acp-'));
    try {
      await withCommand([], async (editor) => {
        const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [stdioServer] });
        expect(await editor.prompt(sessionId, 'go')).toBe('end_turn');
        expect(editor.asked.map(({ toolCall }) => toolCall.rawInput)).toEqual([{ text: `from ${cwd}` }]);
        expect(editor.text()).toBe(`done in ${cwd}`);
        expect(JSON.stringify(editor.updates)).toContain(`"text":"from ${cwd}"`);
        const { sessions } = await editor.agent.request('session/list', { cwd });
        expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
      });
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  test('IOP-A4 a flag says more about the folder than the editor; without servers the tool is not there', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'acp-'));
    try {
      await withCommand(['--workspace', cwd], async (editor) => {
        expect(await editor.prompt(await editor.start(), 'go')).toBe('end_turn');
        expect(editor.asked).toEqual([]);
        expect(editor.text()).toBe(`done in ${cwd}`);
      });
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  /** A host for each session, with the tools of its editor. */
  const withTools =
    (script: readonly Script[]): ServeAcpOptions['open'] =>
    async ({ mcpToolsets }) =>
      hostOf(script, { toolProviders: await mcpToolsets() }).open('ours');

  test('IOP-A4 a program takes the servers by HTTP, too', async () => {
    const foreign = new Foreign();
    await using server = await serveForeign(foreign);
    const open = withTools([call('echo', { text: 'by HTTP' }), 'done']);
    const editor = await editorOf(hostOf([]), allow, undefined, { open });
    expect(editor.info.agentCapabilities?.mcpCapabilities).toMatchObject({ http: true });
    const mcpServers: McpServer[] = [{ type: 'http', name: 'web', url: server.url, headers: [] }];
    const { sessionId } = await editor.agent.request('session/new', { cwd: '/work', mcpServers });
    expect(await editor.prompt(sessionId, 'go')).toBe('end_turn');
    expect(editor.text()).toBe('done');
    expect(foreign.runs).toEqual(['by HTTP']);
    editor.close();
    await editor.closed;
  });

  const gone: McpServer = { name: 'gone', command: '/no/such/program', args: [], env: [] };
  test.each([
    ['are not used', [stdioServer], undefined, /^MCP servers of the editor are not used here: foreign\./],
    ['cannot be reached', [gone], withTools(['hello', 'again']), /^MCP servers that are not used: gone \(.*\)\./],
    [
      'are of a kind that is not spoken',
      [{ type: 'sse', name: 'old', url: 'http://127.0.0.1:9', headers: [] }],
      withTools(['hello', 'again']),
      /old \(a server of type sse/,
    ],
    [
      'have a tool of the same name',
      [stdioServer, { ...stdioServer, name: 'twin' }],
      withTools(['hello', 'again']),
      /twin \(its tool echo is named like one of foreign\)/,
    ],
  ] as [string, McpServer[], ServeAcpOptions['open'] | undefined, RegExp][])(
    'IOP-A4 servers that %s are told to the person, once',
    async (_, mcpServers, open, words) => {
      const editor = await editorOf(hostOf(['hello', 'again']), allow, undefined, open ? { open } : {});
      const { sessionId } = await editor.agent.request('session/new', { cwd: tmpdir(), mcpServers });
      await editor.prompt(sessionId, 'go');
      expect(editor.text()).toMatch(words);
      expect(editor.text()).toMatch(/hello$/);
      const before = editor.text();
      await editor.prompt(sessionId, 'go on');
      expect(editor.text()).toBe(`${before}again`);
      editor.close();
      await editor.closed;
    },
  );
});

describe('ATK3-10 sessions that are being opened', () => {
  /** Sessions of a stored one, each of which waits to be let go; how many were opened, and how many closed. */
  async function slow() {
    const host = hostOf([]);
    const { id } = await host.open('ours', { sessionId: 's', create: true });
    const door = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const counts = { opened: 0, closed: 0 };
    const editor = await editorOf(host, allow, undefined, {
      async open({ sessionId = id }) {
        counts.opened++;
        asked.resolve();
        await door.promise;
        return host.open('ours', { sessionId });
      },
      closed: async () => void counts.closed++,
    });
    const load = (method: 'session/load' | 'session/resume' = 'session/load') =>
      editor.agent.request(method, { sessionId: id, cwd: '/work', mcpServers: [] });
    return { editor, load, door, asked, counts };
  }

  test('one that is loaded several times at once is opened once, and closed', async () => {
    const { editor, load, door, counts } = await slow();
    const loads = [load(), load(), load('session/resume')];
    door.resolve();
    await Promise.all(loads);
    editor.close();
    await editor.closed;
    expect(counts).toEqual({ opened: 1, closed: 1 });
  });

  test('one that is opened while the editor goes is closed, and waited for', async () => {
    const { editor, load, door, asked, counts } = await slow();
    const loading = load().catch(() => 'gone');
    await asked.promise;
    editor.close();
    door.resolve();
    await editor.closed;
    expect([await loading, counts]).toEqual(['gone', { opened: 1, closed: 1 }]);
  });
});

describe('modes', () => {
  const edit: AnyTool = tool('change', () => 'changed', { kind: 'edit' });
  const script = () => [call('change'), 'one', call('change'), 'two'];

  test('IOP-A6 an editor chooses one of those that are offered, and calls are judged by it', async () => {
    const modes = ['default', 'auto_edit'] as const;
    const host = hostOf(script(), { tools: [edit] });
    const editor = await editorOf(host, allow, undefined, { modes });
    const { sessionId, modes: told } = await editor.agent.request('session/new', { cwd: '/work', mcpServers: [] });
    expect(told).toMatchObject({ currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'auto_edit' }] });
    await editor.prompt(sessionId, 'go');
    expect(editor.asked).toHaveLength(1);
    await editor.agent.request('session/set_mode', { sessionId, modeId: 'auto_edit' });
    await editor.prompt(sessionId, 'go');
    expect(editor.text()).toBe('onetwo');
    expect(editor.asked).toHaveLength(1);
    const again = await editorOf(host, allow, undefined, { modes });
    const loaded = await again.agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });
    expect(loaded.modes?.currentModeId).toBe('auto_edit');
  });

  test.each([
    ['that is not offered', ['default', 'plan'] as const, 'autonomous'],
    ['where none is offered', undefined, 'plan'],
  ])('IOP-A6 a mode %s is refused', async (_, modes, modeId) => {
    const editor = await editorOf(hostOf(script(), { tools: [edit] }), allow, undefined, modes ? { modes } : {});
    const sessionId = await editor.start();
    const refused = editor.agent.request('session/set_mode', { sessionId, modeId });
    await expect(refused).rejects.toMatchObject({ code: -32_602, data: { code: 'E_BAD_INPUT' } });
    await editor.prompt(sessionId, 'go');
    expect(editor.asked).toHaveLength(1);
  });

  test('IOP-A6 coxswain acp offers no mode that is looser than --mode', async () => {
    await withCommand(['--mode', 'default'], async ({ agent }) => {
      const { modes } = await agent.request('session/new', { cwd: tmpdir(), mcpServers: [] });
      expect(modes?.availableModes.map(({ id }) => id)).toEqual(['default', 'dont_ask', 'plan']);
    });
  });
});

describe('the life of a session', () => {
  const stored = () => hostOf(['first', 'second'], { store: new InMemorySessionService() });

  test('IOP-A6 a session that is closed is open no more, and can be resumed without being told again', async () => {
    const editor = await editorOf(stored());
    expect(editor.info.agentCapabilities?.sessionCapabilities).toMatchObject({ close: {}, resume: {}, list: {} });
    const sessionId = await editor.start();
    await editor.prompt(sessionId, 'hi');
    await editor.agent.request('session/close', { sessionId });
    await expect(editor.prompt(sessionId, 'hi')).rejects.toMatchObject({ data: { code: 'E_SESSION_NOT_FOUND' } });
    const before = editor.updates.length;
    await editor.agent.request('session/resume', { sessionId, cwd: '/work', mcpServers: [] });
    expect(editor.updates.length).toBe(before);
    expect(await editor.prompt(sessionId, 'again')).toBe('end_turn');
    expect(editor.text()).toBe('firstsecond');
  });

  test('IOP-A6 closing a session cancels its prompt', async () => {
    const host = hostOf([call('rm'), 'never'], { tools: [tool('rm', () => 'gone', { kind: 'delete' })] });
    const editor = await editorOf(host, () => undefined);
    const sessionId = await editor.start();
    const ended = editor.prompt(sessionId, 'go');
    await expect.poll(() => editor.asked.length).toBe(1);
    await editor.agent.request('session/close', { sessionId });
    expect(await ended).toBe('cancelled');
  });

  test('IOP-A6 a session is deleted where the program lets it be, and not else', async () => {
    const host = stored();
    const remove = (id: string) => host.sessions().delete(id);
    const editor = await editorOf(host, 'none', undefined, { delete: remove });
    expect(editor.info.agentCapabilities?.sessionCapabilities?.delete).toEqual({});
    const sessionId = await editor.start();
    await editor.prompt(sessionId, 'hi');
    await editor.agent.request('session/delete', { sessionId });
    expect((await editor.agent.request('session/list', {})).sessions).toEqual([]);
    const other = await editorOf(stored());
    expect(other.info.agentCapabilities?.sessionCapabilities?.delete).toBeUndefined();
    const refused = other.agent.request('session/delete', { sessionId: await other.start() });
    await expect(refused).rejects.toMatchObject({ data: { code: 'E_UNSUPPORTED' } });
  });
});

describe('what an editor is shown of calls and costs', () => {
  test('IOP-A6 a tool that only reads is a read, when it is told and when it is asked about; one that destroys is none', async () => {
    const tools = [
      tool('look', () => 'seen', { annotations: { readOnly: true } }),
      tool('odd', () => 'seen', { annotations: { readOnly: true, destructive: true } }),
      tool('rm', () => 'gone', { kind: 'delete' }),
    ];
    const policy = { evaluate: () => ({ outcome: 'ask' as const }) };
    const editor = await editorOf(hostOf([call('look'), call('odd'), call('rm'), 'done'], { tools, policy }), allow);
    await editor.prompt(await editor.start(), 'go');
    const told = editor.updates.flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update.kind] : []));
    expect(told).toEqual(['read', 'other', 'delete']);
    expect(editor.asked.map(({ toolCall }) => toolCall.kind)).toEqual(told);
  });

  const usage = { inputTokens: 100, outputTokens: 20, thoughtTokens: 5, cost: { usd: 0.5 } };
  const costly = () =>
    hostOf([
      { text: 'one', usage },
      { text: 'two', usage },
    ]);

  test('IOP-A6 tokens of a turn are told at its end; how full the context is, where its size is known', async () => {
    const editor = await editorOf(costly(), 'none', undefined, { contextTokens: 1000 });
    const sessionId = await editor.start();
    const prompt = [{ type: 'text' as const, text: 'hi' }];
    const answer = await editor.agent.request('session/prompt', { sessionId, prompt });
    expect(answer).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120, thoughtTokens: 5 } });
    await editor.prompt(sessionId, 'hi');
    const updates = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'usage_update');
    expect(updates).toMatchObject([
      { used: 120, size: 1000, cost: { amount: 0.5, currency: 'USD' } },
      { used: 120, size: 1000, cost: { amount: 1, currency: 'USD' } },
    ]);
  });

  test('IOP-A6 a size that is not known is not made up', async () => {
    const editor = await editorOf(costly());
    await editor.prompt(await editor.start(), 'hi');
    expect(editor.updates.some(({ sessionUpdate }) => sessionUpdate === 'usage_update')).toBe(false);
  });

  const talkative = () => {
    const essay = { text: 'All about cheese. '.repeat(300), usage: { inputTokens: 20, outputTokens: 1_400 } };
    const again = { text: essay.text, usage: { inputTokens: 1_440, outputTokens: 1_400 } };
    const model = new ScriptedModel([essay, again, 'It was about cheese.', 'You are welcome.']);
    const compaction = { window: 3_000, keep: 1 };
    const agents = [new LlmAgent({ name: 'bot', model, compaction })];
    return createHost({ app: 'shop', agents, store: new InMemorySessionService() });
  };
  const talked = async (session: object) => {
    const more = { contextTokens: 3_000 };
    const editor = await editorOf(talkative(), 'none', undefined, more, { session });
    const sessionId = await editor.start();
    for (const words of ['Explain cheese.', 'Once more.', 'Thank you!']) await editor.prompt(sessionId, words);
    return { editor, sessionId };
  };
  const told = (editor: Editor) => editor.updates.filter((it) => it.sessionUpdate === 'compaction_update');

  test('IOP-A6 a compaction is shown with its summary to an editor that knows them, also when the session is loaded; the context is emptier then', async () => {
    const { editor, sessionId } = await talked({ compaction: {} });
    const update = {
      status: 'completed',
      summary: [{ type: 'text', text: 'It was about cheese.' }],
      _meta: { coxswain: { by: 'model' } },
    };
    const [shown] = told(editor);
    expect(told(editor)).toMatchObject([update]);
    const fills = editor.updates.flatMap((it) => (it.sessionUpdate === 'usage_update' ? [it.used] : []));
    // After the two essays; with the summary in their place.
    expect(fills.slice(0, 2)).toEqual([1_420, 2_840]);
    expect(fills.some((used, at) => at > 1 && used > 0 && used < 1_500)).toBe(true);
    editor.updates.length = 0;
    await editor.agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });
    expect(told(editor)).toEqual([shown]);
  });

  test('IOP-A6 an editor that does not say that it knows compactions is sent none', async () => {
    const { editor } = await talked({});
    expect(editor.text()).toContain('You are welcome.');
    expect(told(editor)).toEqual([]);
  });
});
