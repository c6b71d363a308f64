import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import type { AnyTool } from '../../src/contracts/index.ts';
import type { AgentHost, HostOptions } from '../../src/index.ts';
import { createHost, LlmAgent, rulePolicy } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { built } from '../packed.ts';
import { gate, tool } from '../runtime/kit.ts';
import { editorOf, editorOn } from './editor.ts';

function hostOf(script: readonly Script[], tools: readonly AnyTool[] = [], more: Partial<HostOptions> = {}) {
  const agent = new LlmAgent({ name: 'ours', model: new ScriptedModel(script) });
  return createHost({ app: 'shop', tools, warn: () => {}, ...more, agents: [agent] });
}

const call = (name: string, args: unknown = {}): Script => ({ calls: [[name, args]] });
const counting = (name: string) => {
  const ran: unknown[] = [];
  return { ran, tool: tool(name, (args: unknown) => ran.push(args), { kind: 'delete' }) };
};

describe('our agents in an editor', () => {
  test('words come in pieces, each once; thoughts apart; then the turn ends', async () => {
    const editor = await editorOf(hostOf([{ thought: 'hm', deltas: ['hel', 'lo'] }]));
    expect(await editor.prompt(await editor.start(), 'hi')).toBe('end_turn');
    expect(editor.text()).toBe('hello');
    expect(editor.updates.filter((it) => it.sessionUpdate === 'agent_message_chunk').length).toBe(2);
    expect(editor.updates.some((it) => it.sessionUpdate === 'agent_thought_chunk')).toBe(true);
    expect(editor.updates.some((it) => it.sessionUpdate === 'user_message_chunk')).toBe(false);
  });

  test('IOP-M1 an answer that was cut at the output limit ends with max_tokens', async () => {
    const editor = await editorOf(hostOf([{ text: 'half of', finishReason: 'length' }, 'all of it']));
    const id = await editor.start();
    expect([await editor.prompt(id, 'hi'), await editor.prompt(id, 'again')]).toEqual(['max_tokens', 'end_turn']);
  });

  test.each([
    { outcome: 'rejected', optionId: 'allow' },
    { outcome: null, optionId: 'allow' },
    { optionId: 'allow' },
    null,
  ])('ATT-17 an answer whose outcome is not known (%j) allows nothing, whatever it names', async (outcome) => {
    const { ran, tool: rm } = counting('rm');
    const pick = (() => outcome) as unknown as () => string;
    const editor = await editorOf(hostOf([call('rm'), 'kept'], [rm]), pick);
    expect(await editor.prompt(await editor.start(), 'remove x')).toBe('end_turn');
    expect(ran).toEqual([]);
  });

  test('a call is asked about, and runs once it is allowed; its course is shown', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm', { file: 'x' }), 'gone'], [rm]), () => 'allow');
    expect(await editor.prompt(await editor.start(), 'remove x')).toBe('end_turn');
    expect(ran).toEqual([{ file: 'x' }]);
    expect(editor.asked).toHaveLength(1);
    expect(editor.asked[0]).toMatchObject({
      toolCall: { kind: 'delete', rawInput: { file: 'x' } },
      options: expect.arrayContaining([
        expect.objectContaining({ optionId: 'allow', kind: 'allow_once' }),
        expect.objectContaining({ optionId: 'reject', kind: 'reject_once' }),
      ]),
    });
    const [shown] = editor.updates.filter((it) => it.sessionUpdate === 'tool_call');
    expect(shown).toMatchObject({ toolCallId: editor.asked[0]?.toolCall.toolCallId, name: 'rm' });
    const statuses = editor.updates.flatMap((it) => (it.sessionUpdate === 'tool_call_update' ? it.status : []));
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(1);
  });

  test('a rejection is a deny: nothing runs, the model hears of it', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'a pity'], [rm]), () => 'reject');
    expect(await editor.prompt(await editor.start(), 'go')).toBe('end_turn');
    expect(ran).toEqual([]);
    expect(editor.text()).toBe('a pity');
    expect(editor.updates).toContainEqual(expect.objectContaining({ status: 'failed' }));
  });

  test('"always" is remembered by the host: the next call is not asked about', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(
      hostOf([call('rm', { file: 'x' }), call('rm', { file: 'x' }), 'gone'], [rm]),
      ({ options }) => options.find(({ kind }) => kind === 'allow_always')?.optionId ?? 'reject',
    );
    await editor.prompt(await editor.start(), 'go');
    expect([ran.length, editor.asked.length]).toEqual([2, 1]);
  });

  test('an editor that cannot be asked has allowed nothing', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'well'], [rm]));
    expect(await editor.prompt(await editor.start(), 'go')).toBe('end_turn');
    expect(ran).toEqual([]);
    expect(editor.text()).toBe('well');
  });

  test('an option that was not offered is a no', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'well'], [rm]), () => 'always:99');
    await editor.prompt(await editor.start(), 'go');
    expect(ran).toEqual([]);
  });

  test('a policy that denies asks nobody', async () => {
    const { ran, tool: rm } = counting('rm');
    const policy = rulePolicy([{ tool: 'rm', outcome: 'deny' }] as never);
    const editor = await editorOf(hostOf([call('rm'), 'well'], [rm], { policy }), () => 'allow');
    await editor.prompt(await editor.start(), 'go');
    expect([ran, editor.asked]).toEqual([[], []]);
  });

  test('a quorum waits for others: the turn ends, nothing runs', async () => {
    const { ran, tool: rm } = counting('rm');
    const policy = { evaluate: () => ({ outcome: 'ask' as const, approvers: { quorum: 2 } }) };
    const editor = await editorOf(hostOf([call('rm'), 'well'], [rm], { policy }), () => 'allow');
    expect(await editor.prompt(await editor.start(), 'go')).toBe('end_turn');
    expect(ran).toEqual([]);
    expect(editor.text()).toContain('waits for somebody else');
  });
});

describe('cancel', () => {
  test('of a turn that works', async () => {
    const door = gate();
    const editor = await editorOf(
      hostOf([call('wait'), 'never'], [tool('wait', () => door.opened, { annotations: { readOnly: true } })]),
    );
    const sessionId = await editor.start();
    const ended = editor.prompt(sessionId, 'go');
    await expect.poll(() => editor.updates.some((it) => it.sessionUpdate === 'tool_call')).toBe(true);
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await ended).toBe('cancelled');
    door.open();
    expect(editor.text()).toBe('');
  });

  test('of a question: the call never runs, also if the editor leaves it open', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'next'], [rm]), () => undefined);
    const sessionId = await editor.start();
    const ended = editor.prompt(sessionId, 'go');
    await expect.poll(() => editor.asked.length).toBe(1);
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await ended).toBe('cancelled');
    expect(await editor.prompt(sessionId, 'again')).toBe('end_turn');
    expect(ran).toEqual([]);
  });

  test('of a form that the editor leaves open: the turn is cancelled', async () => {
    const { ran, tool: rm } = counting('rm');
    const host: AgentHost = hostOf([call('rm'), 'next'], [rm]);
    const open = host.open.bind(host);
    host.open = async (...args: Parameters<typeof open>) => {
      const session = await open(...args);
      const pending = session.pending.bind(session);
      // As a question that has no yes and no of its own.
      session.pending = async () =>
        (await pending()).map(({ approval: _, message = '', ...request }) => ({
          ...request,
          message,
          kind: 'elicitation',
          elicitation: 'clarification',
        }));
      return session;
    };
    const forms: string[] = [];
    const editor = await editorOf(host, 'none', (message) => void forms.push(message));
    const sessionId = await editor.start();
    const ended = editor.prompt(sessionId, 'go');
    await expect.poll(() => forms.length).toBe(1);
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await ended).toBe('cancelled');
    expect(ran).toEqual([]);
  });

  test('a second prompt is refused while a question is open; the first can still be cancelled', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'next'], [rm]), () => undefined);
    const sessionId = await editor.start();
    const ended = editor.prompt(sessionId, 'go');
    await expect.poll(() => editor.asked.length).toBe(1);
    await expect(editor.prompt(sessionId, 'me too')).rejects.toMatchObject({ data: { code: 'E_SESSION_BUSY' } });
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await ended).toBe('cancelled');
    expect(ran).toEqual([]);
  });

  test('a question answered with "cancelled" cancels the turn', async () => {
    const { ran, tool: rm } = counting('rm');
    const editor = await editorOf(hostOf([call('rm'), 'next'], [rm]), () => 'cancel');
    expect(await editor.prompt(await editor.start(), 'go')).toBe('cancelled');
    expect(ran).toEqual([]);
  });
});

describe('sessions', () => {
  test('a loaded session is told again, with the words of both sides and its calls', async () => {
    const { tool: rm } = counting('rm');
    const host = hostOf([call('rm'), 'gone'], [rm]);
    const first = await editorOf(host, () => 'allow');
    const sessionId = await first.start();
    await first.prompt(sessionId, 'remove x');
    first.close();
    await first.closed;
    const second = await editorOf(host);
    await second.agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });
    expect(second.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(
      expect.arrayContaining(['user_message_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk']),
    );
    expect(second.text()).toBe('gone');
  });

  test('stored sessions are listed, newest first', async () => {
    const editor = await editorOf(hostOf(['one', 'two']));
    const ids = [await editor.start(), await editor.start()];
    for (const id of ids) await editor.prompt(id, 'hi');
    const { sessions } = await editor.agent.request('session/list', { cwd: '/work' });
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
    expect(sessions[0]).toMatchObject({ cwd: '/work', updatedAt: expect.stringMatching(/^\d{4}-/) });
  });

  test('an unknown session and one that is not open are errors with a code', async () => {
    const editor = await editorOf(hostOf([]));
    const load = editor.agent.request('session/load', { sessionId: 'nope', cwd: '/work', mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32_002, data: { code: 'E_SESSION_NOT_FOUND' } });
    await expect(editor.prompt('nope', 'hi')).rejects.toMatchObject({ data: { code: 'E_SESSION_NOT_FOUND' } });
  });

  test('a turn that fails is an error with its code; the session goes on', async () => {
    const editor = await editorOf(hostOf([{ error: new Error('broken') }, 'better']));
    const sessionId = await editor.start();
    await expect(editor.prompt(sessionId, 'hi')).rejects.toMatchObject({ data: { code: 'E_MODEL' } });
    expect(await editor.prompt(sessionId, 'again')).toBe('end_turn');
  });

  test('an editor that leaves aborts what runs', async () => {
    const aborted = gate();
    let running = false;
    const hang: AnyTool = tool(
      'hang',
      (_, { signal }) =>
        new Promise((resolve) => {
          running = true;
          signal.addEventListener('abort', () => {
            aborted.open();
            resolve('late');
          });
        }),
      { annotations: { readOnly: true } },
    );
    const editor = await editorOf(hostOf([call('hang'), 'never'], [hang]));
    const sessionId = await editor.start();
    editor.prompt(sessionId, 'go').catch(() => {});
    await expect.poll(() => running).toBe(true);
    editor.close();
    await aborted.opened;
    await editor.closed;
  });
});

test('coxswain acp: an editor starts the command, and stdout holds the protocol alone', async () => {
  const child = spawn(process.execPath, [built('cli.js'), 'acp', built('noisy-agent.js'), '--store', 'memory:'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [kept, read] = (Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>).tee();
  const seen = (async () => {
    for await (const chunk of kept) out += new TextDecoder().decode(chunk);
  })();
  const stream = ndJsonStream(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>, read);
  const editor = await editorOn(stream, () => 'allow');
  expect(await editor.prompt(await editor.start(), 'go')).toBe('end_turn');
  expect(editor.asked).toHaveLength(1);
  expect(editor.text()).toBe('done');
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  expect(await exit).toBe(0);
  await seen;
  for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  expect(err).toContain('removed on stdout');
  expect(err).toContain('a module says hello');
  expect(err).toContain('a child of a tool');
});
