import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EventInit, Plugin, StoredEvent, Toolset } from '../../src/runtime/index.ts';
import {
  AgentTree,
  agentTool,
  checkEdited,
  createEvent,
  hookUserMessage,
  InMemoryArtifactService,
  InMemorySessionService,
  loadArtifactsTool,
  placeOfCall,
  SequentialAgent,
  toolOf,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Folding } from './folding.ts';
import { bench, endOf, errorOf, key, llm, responses, said, text, tool, user } from './kit.ts';

const refused = (code: string, words = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(words) });
const plain = (name: string, options = {}) => llm(name, new ScriptedModel(['hello']), options);

describe('where a call was made', () => {
  const pay = tool('tool c2', () => 1, {
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  });
  const expert = plain('expert', { tools: [pay] });
  const asking = { ...agentTool(expert), name: 'tool c1' };
  const bot = plain('bot', { tools: [asking] });
  const root = new SequentialAgent({ name: 'root', subAgents: [bot] });
  const tree = AgentTree.of(root);
  const place = (f: Folding, id: string) => placeOfCall(tree, f.fold, f.fold.calls.get(id) as never);

  function calls(): Folding {
    const f = new Folding();
    f.act({ turn: { start: 'bot', root: 'root' } });
    f.call(['c1'], { path: '/0' });
    f.call(['c2'], { path: '/0/c1', iso: '/0/c1', author: 'expert' });
    f.call(['c3'], { path: '/0/gone', iso: '/0/gone', author: 'expert' });
    f.call(['c4'], { path: '/0/c2', iso: '/0/c2', author: 'deep' });
    f.call(['c5'], { author: 'stranger' });
    return f;
  }

  test('is followed through the agents that run as tools', () => {
    const f = calls();
    expect(place(f, 'c1')).toMatchObject({ tree, agent: bot, path: ['root', 'bot'] });
    expect(place(f, 'c2')).toMatchObject({
      tree: AgentTree.of(expert),
      agent: expert,
      path: ['root', 'bot', 'expert'],
    });
    expect(place(f, 'c3')).toEqual({ tree, agent: undefined, path: ['root', 'expert'] });
    expect(place(f, 'c4')).toEqual({ tree, agent: undefined, path: ['root', 'bot', 'expert', 'deep'] });
    expect(place(f, 'c5')).toEqual({ tree, agent: undefined, path: ['stranger'] });
    expect(toolOf(place(f, 'c2'), 'tool c2')?.tool).toBe(pay);
    expect([toolOf(place(f, 'c2'), 'gone'), toolOf(place(f, 'c5'), 'tool c2')]).toEqual([undefined, undefined]);
    expect(toolOf({ tree, agent: root, path: [] }, 'tool c1')).toBeUndefined();
  });

  test('says which tool checks the arguments that a person has edited', async () => {
    const f = calls();
    const edited = (id: string, args: Record<string, unknown>) =>
      checkEdited(tree, f.fold, f.fold.calls.get(id) as never, args);
    expect(await edited('c2', { n: 2 })).toEqual({ n: 2 });
    await expect(edited('c2', { n: 'x' })).rejects.toThrow(
      refused('E_WRONG_ANSWER', 'the edited arguments do not fit'),
    );
    expect(await edited('c5', { any: 1 })).toEqual({ any: 1 });
  });
});

describe('sessions in memory', () => {
  const at = (ms: number) => vi.setSystemTime(ms);
  const call = (id: string): StoredEvent =>
    createEvent({
      author: 'bot',
      content: { role: 'model', parts: [{ type: 'function_call', id, name: 'f', args: {} }] },
    });
  const turn = (more: Partial<EventInit> = {}) =>
    createEvent({ author: 'user', actions: { turn: { start: 'bot' } }, ...more });

  test('list what is open oldest first, then by user, session and place', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const sessions = new InMemorySessionService();
    const keys = ['bob/a', 'ann/b', 'ann/a', 'zoe/z'].map((name) => {
      const [userId = '', id = ''] = name.split('/');
      return { app: 'shop', userId, id };
    });
    for (const of of keys) await sessions.create(of);
    at(1000);
    for (const of of keys.slice(0, 3)) await sessions.append(of, [turn(), call('two'), call('one')]);
    at(500);
    await sessions.append(keys[3] as never, [turn(), call('first')]);
    const open = await sessions.openCalls({ app: 'shop' });
    expect(open.map(({ key: { userId, id }, callId }) => `${userId}/${id} ${callId}`)).toEqual([
      'zoe/z first',
      'ann/a two',
      'ann/a one',
      'ann/b two',
      'ann/b one',
      'bob/a two',
      'bob/a one',
    ]);
    expect(open[0]).toStrictEqual({ key: keys[3], callId: 'first', name: 'f', seq: 2, lastSeq: 2, openedAt: 500 });
    const turns = await sessions.openTurns({ app: 'shop' });
    expect(turns.map(({ key: { userId, id } }) => `${userId}/${id}`)).toEqual(['zoe/z', 'ann/a', 'ann/b', 'bob/a']);
    expect(turns[0]).toStrictEqual({ key: keys[3], agent: 'bot', pending: 1 });
    expect(await sessions.openCalls({ app: 'shop', userId: 'ann', id: 'gone' })).toEqual([]);
    expect(await sessions.openCalls({ app: 'shop', userId: 'nobody' })).toEqual([]);
    expect(await sessions.openTurns({ app: 'mall' })).toEqual([]);
    expect((await sessions.openCalls({ app: 'shop', id: 'a' })).map(({ key: { userId } }) => userId)).toEqual([
      'ann',
      'ann',
      'bob',
      'bob',
    ]);
    const summary = (await sessions.list({ app: 'shop', userId: 'ann' }))[0];
    expect(summary).toMatchObject({ id: 'a', length: 3, pending: 2, unfinished: true });
    expect(summary).not.toHaveProperty('title');
  });

  test('of which one runs are not erased; what is no key is told', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key);
    const { release } = await sessions.acquire(key);
    await expect(sessions.eraseUser(key)).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    await release();
    await release();
    expect(await sessions.eraseUser(key)).toBe(1);
    expect(await sessions.eraseUser(key)).toBe(0);
    for (const bad of [undefined, null, 5])
      await expect(sessions.get(bad as never)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    await expect(sessions.append(key, [])).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
  });

  test('keep a name under which one was taken and freed again', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { title: 'T', state: { 'app:a': 1, 'user:u': 1, own: 1 } });
    await expect(sessions.create(key)).rejects.toMatchObject({ code: 'E_SESSION_EXISTS' });
    const settle = () => [createEvent({ id: 'x', author: 'user' }), createEvent({ id: 'x', author: 'user' })];
    await expect(sessions.fork(key, { id: 's2', settle })).rejects.toMatchObject({ code: 'E_EVENT_EXISTS' });
    expect(await sessions.get({ ...key, id: 's2' })).toBeUndefined();
    const fork = await sessions.fork(key, { id: 's2', settle: () => [createEvent({ id: 'x', author: 'user' })] });
    expect([fork.title, fork.events.map(({ id }) => id), fork.state]).toEqual([
      'T',
      ['x'],
      { 'app:a': 1, 'user:u': 1, own: 1 },
    ]);
    expect((await sessions.fork(key)).key.id).not.toBe(key.id);
  });
});

describe('artifacts that a model asks for', () => {
  const load = async (args: object, files: Record<string, [string, Uint8Array]> = {}) => {
    const artifacts = new InMemoryArtifactService();
    for (const [name, [mimeType, data]] of Object.entries(files)) await artifacts.save(key, name, { mimeType, data });
    const model = new ScriptedModel([{ calls: [['load_artifacts', args]] }, 'done']);
    const { say } = bench(llm('bot', model, { tools: [loadArtifactsTool()] }), { services: { artifacts } });
    const events = await say('hi');
    const [part] = events
      .flatMap(({ content }) => content?.parts ?? [])
      .filter(({ type }) => type === 'function_response');
    return { part: part as { response: Record<string, unknown>; content?: unknown[] }, artifacts };
  };
  const files: Record<string, [string, Uint8Array]> = {
    'a.txt': ['text/plain', Buffer.from('words')],
    'b.png': ['image/png', new Uint8Array([0, 0, 0])],
  };

  test('are listed where none is named, and given where some are', async () => {
    expect((await load({}, files)).part.response).toEqual({ artifacts: ['a.txt', 'b.png'] });
    expect((await load({ names: [] }, files)).part.response).toEqual({ artifacts: ['a.txt', 'b.png'] });
    const { part } = await load({ names: ['a.txt', 'b.png', 'gone', '../x', 'a.txt'] }, files);
    const told = JSON.stringify(part);
    for (const words of [
      'a.txt (version 1, text/plain):',
      'words',
      'b.png (version 1, image/png):',
      'There is no artifact gone, ../x.',
    ])
      expect(told).toContain(words);
    expect(told.match(/words/g)).toHaveLength(1);
    expect(JSON.stringify((await load({ names: ['a.txt'] }, files)).part)).not.toContain('There is no artifact');
  });

  test('are an error where their store fails', async () => {
    const artifacts = new InMemoryArtifactService();
    artifacts.load = () => Promise.reject(new Error('away'));
    const model = new ScriptedModel([{ calls: [['load_artifacts', { names: ['a'] }]] }, 'done']);
    const { say } = bench(llm('bot', model, { tools: [loadArtifactsTool()] }), { services: { artifacts } });
    expect(responses(await say('hi')).load_artifacts).toEqual({ error: 'away' });
  });
});

describe('plugins around a run', () => {
  const run = (plugin: Omit<Plugin, 'name'>, more: Partial<Plugin>[] = []) => {
    const plugins = [{ name: 'one', ...plugin }, ...more.map((other, index) => ({ name: `other${index}`, ...other }))];
    return bench(plain('bot'), { plugins });
  };

  test('may answer in the agent’s place, as whoever would have', async () => {
    const { say } = run({ beforeRun: () => ({ role: 'model', parts: [{ type: 'text', text: 'closed' }] }) }, [
      { beforeRun: () => text('never') },
    ]);
    const events = await say('hi');
    expect([said(events), endOf(events)]).toEqual([['user: hi', 'bot: closed'], 'completed']);
  });

  test('are asked about messages alone, and in order until one has words', async () => {
    const asked: string[] = [];
    const { say } = run({ beforeRun: () => void asked.push('one') as undefined }, [
      { beforeRun: () => void asked.push('two') as undefined },
      {},
    ]);
    await say('hi');
    expect(asked).toEqual(['one', 'two']);
    await say({ kind: 'continue' }).catch(() => {});
    expect(asked).toHaveLength(2);
  });

  test('that fail before it end it, and after it change nothing', async () => {
    const before = run({
      beforeRun: () => {
        throw new Error('no');
      },
    });
    expect(errorOf(await before.say('hi'))?.code).toBe('E_HOOK_FAILED');
    const told: string[] = [];
    const after = run(
      {
        afterRun: () => {
          throw new Error('no');
        },
      },
      [{}, { afterRun: () => void told.push('told') }],
    );
    expect(endOf(await after.say('hi'))).toBe('completed');
    expect([after.warnings, told]).toEqual([['one.afterRun failed'], ['told']]);
  });

  test('make of a message what they return, or leave it', async () => {
    const info = { signal: new AbortController().signal } as never;
    const parts = user('a').parts;
    expect(await hookUserMessage(info, [], parts)).toBe(parts);
    const silent: Plugin = { name: 'silent', onUserMessage: () => undefined };
    expect(await hookUserMessage(info, [silent, { name: 'none' }], parts)).toBe(parts);
    const seen: unknown[] = [];
    const editing: Plugin = {
      name: 'edits',
      onUserMessage: (_, content) => {
        seen.push(content);
        return user('b');
      },
    };
    expect(
      await hookUserMessage(info, [silent, editing, { name: 'never', onUserMessage: () => user('c') }], parts),
    ).toEqual(user('b').parts);
    expect(seen).toEqual([{ role: 'user', parts }]);
  });
});

test('an agent as a tool is described as it is, or as its caller wants it', () => {
  const own = plain('expert', {
    description: 'knows',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
  });
  expect(agentTool(own)).toMatchObject({
    name: 'expert',
    description: 'knows',
    inputSchema: { properties: { q: {} } },
    kind: 'other',
  });
  expect(agentTool(own)).not.toHaveProperty('annotations');
  const options = {
    name: 'ask',
    description: 'asks',
    inputSchema: { type: 'object' as const },
    annotations: { readOnly: true },
  };
  expect(agentTool(own, options)).toMatchObject(options);
  expect(agentTool(plain('other')).inputSchema).toMatchObject({ required: ['request'] });
  expect(() => agentTool(own, { title: 'x' } as never)).toThrow(refused('E_BAD_INPUT'));
});

test('a toolset is asked with the step’s context, and may come and go', async () => {
  let count = 0;
  const toolset: Toolset = {
    name: 'set',
    tools: (context) => (count++ === 0 ? [tool('first', () => context.agent.name)] : []),
  };
  const model = new ScriptedModel([{ calls: [['first']] }, 'done']);
  const { say } = bench(llm('bot', model, { toolsets: [toolset] }));
  expect(responses(await say('hi')).first).toEqual({ content: 'bot' });
  expect(model.requests.map(({ tools }) => tools)).toEqual([['first'], []]);
});
