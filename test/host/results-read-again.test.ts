import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/index.ts';
import { InMemoryArtifactService, InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, hostOf, ofType, only, readOnly, say, textOfContent, tool } from './kit.ts';

const key = { app: 'shop', userId: 'local', id: 's' };
const claim = (name: string): ToolResult => ({
  content: [{ type: 'text', text: 'a page' }],
  _meta: { truncated: { bytes: 9, artifacts: [name], text: name } },
});
const middle = `HEAD${'x'.repeat(5000)}MIDDLE-FACT${'y'.repeat(5000)}TAIL`;
const big = tool('big', () => middle, readOnly);
const read = (call: string, range = { offset: 0, length: 100_000 }) => ({
  calls: [['read_result', { call, ...range }] as const],
});
const bytesOf = (text: string) => ({ mimeType: 'text/plain', data: Buffer.from(text) });

/** What the tool of this name answered, each time. */
const answers = (events: Awaited<ReturnType<typeof say>>, name: string) =>
  ofType(events, 'tool_response')
    .filter((event) => event.name === name)
    .map(({ content }) => textOfContent(content));

describe('ATK4-05 a result from outside says nothing of what is kept of it', () => {
  test.each(['agent', 'host', 'client', 'a hook'])('%s', async (where) => {
    const artifacts = new InMemoryArtifactService();
    await artifacts.save({ ...key, id: 'other' }, 'user:secret.txt', bytesOf('MY SECRET'));
    await artifacts.save({ ...key, id: 'notes.txt' }, 'notes.txt', bytesOf('MY SECRET'));
    const store = new InMemorySessionService();
    // A file of the user's other sessions, and one that somebody has kept in this session.
    for (const [name, id] of [
      ['user:secret.txt', 'another'],
      ['notes.txt', 'notes.txt'],
    ] as const) {
      const model = new ScriptedModel([{ calls: [['fetch', {}]] }, 'so', { calls: [['big', {}]] }, read(name), 'end']);
      const fetch = tool(
        'fetch',
        where === 'client' ? undefined : () => (where === 'a hook' ? 'x' : claim(name)),
        readOnly,
      );
      const { host } = hostOf(
        bot(model, {
          ...(where === 'agent' ? { tools: [fetch] } : {}),
          ...(where === 'a hook'
            ? { tools: [fetch], afterTool: (_, tool) => (tool.name === 'fetch' ? claim(name) : undefined) }
            : {}),
        }),
        {
          store,
          from: { services: { artifacts } },
          tools: where === 'host' || where === 'client' ? [fetch, big] : [big],
          policy: allowAll(),
          maxResultBytes: 1000,
        },
      );
      const session = await host.open('bot', { sessionId: id, create: true });
      await say(session, 'go');
      if (where === 'client') {
        const { requestId } = await only(session);
        await say(session, { kind: 'tool_result', requestId, result: claim(name) });
      }
      // Nothing is there to be read again.
      expect(model.requests[1]?.tools).not.toContain('read_result');
      const [found] = answers(await say(session, 'and the big one'), 'read_result');
      expect(found).toContain('there is no result of a call');
      await host.close();
      const events = (await store.get({ ...key, id }))?.events ?? [];
      const said = events.flatMap(({ content }) => content?.parts ?? []);
      const fetched = said.filter((part) => part.type === 'function_response' && part.name === 'fetch');
      expect(fetched.map(({ _meta }) => _meta?.truncated)).toEqual([undefined]);
    }
  });

  test('what is cut off the results behind a call is noted with it, and is read by its names', async () => {
    const artifacts = new InMemoryArtifactService();
    const first = tool('first', () => ({ content: [], tailCalls: [{ name: 'big', args: {} }] }), {
      ...readOnly,
      makesTailCalls: true,
    });
    let name = '';
    const model = new ScriptedModel([
      { calls: [['first', {}]] },
      async () => {
        [name = ''] = await artifacts.list(key);
        return read(name, { offset: 5000, length: 20 });
      },
      'end',
    ]);
    const { host } = hostOf(bot(model), {
      from: { services: { artifacts } },
      tools: [first, big],
      policy: allowAll(),
      maxResultBytes: 1000,
    });
    const events = await say(await host.open('bot', { sessionId: 's', create: true }), 'go');
    expect(answers(events, 'read_result')).toEqual([expect.stringContaining('MIDDLE-FACT')]);
    expect(name).toMatch(/^result-/);
  });
});

describe('ATK4-07 what spill has kept is read by whoever has it', () => {
  test('without an artifact service no tool is offered that could not read it', async () => {
    const model = new ScriptedModel([{ calls: [['big', {}]] }, 'end']);
    const { host } = hostOf(bot(model), {
      tools: [big],
      policy: allowAll(),
      maxResultBytes: 1000,
      spill: async () => 'kept-1',
    });
    await say(await host.open('bot', { sessionId: 's', create: true }), 'go');
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('kept-1');
    expect(model.requests[1]?.tools).toEqual(['big']);
  });

  test('beside one the log is read, with a word of what is missing, and no other file of that name', async () => {
    const artifacts = new InMemoryArtifactService();
    const store = new InMemorySessionService();
    const options = {
      store,
      from: { services: { artifacts } },
      tools: [big],
      policy: allowAll(),
      maxResultBytes: 1000,
    };
    const before = hostOf(bot([{ calls: [['big', {}]] }, 'end']), options);
    await say(await before.host.open('bot', { sessionId: 's', create: true }), 'go');
    await before.host.close();
    await artifacts.save(key, 'kept-1', bytesOf('OTHER'));
    const script = [{ calls: [['big', {}] as const] }, read('kept-1'), 'end'];
    const { host } = hostOf(bot(script), { ...options, maxResultBytes: 2000, spill: async () => 'kept-1' });
    const [found = ''] = answers(await say(await host.open('bot', { sessionId: 's' }), 'again'), 'read_result');
    expect(found).toMatch(/^\[not the whole result: [^\]]* what was kept as "kept-1" cannot be read here\]\nHEAD/);
    expect(found).not.toContain('OTHER');
  });
});

describe('ATK4-12 a part of a result is not read as the whole', () => {
  async function kept() {
    const artifacts = new InMemoryArtifactService();
    const store = new InMemorySessionService();
    const options = { store, from: { services: { artifacts } }, tools: [big], policy: allowAll() };
    const before = hostOf(bot([{ calls: [['big', {}]] }, 'end']), { ...options, maxResultBytes: 1000 });
    const session = await before.host.open('bot', { sessionId: 's', create: true });
    const [call] = ofType(await say(session, 'go'), 'tool_request');
    await before.host.close();
    const [name = ''] = await artifacts.list(key);
    const id = call?.requestId ?? '';
    const script = (of: string) => Array.from({ length: 4 }, () => [read(of), 'done']).flat();
    const readBy = (of: string, more: Partial<typeof options> = {}) =>
      hostOf(bot(script(of)), { ...options, ...more, maxResultBytes: 200_000 }).host;
    return { artifacts, id, name, readBy };
  }
  const lacks =
    /^\[not the whole result: this is what is left of \d+ bytes; what was kept as "[^"]+" cannot be read here\]\nHEAD/;

  describe.each(['by the id of its call', 'by its name'])('in a copy of the session, %s', (by) => {
    const copied = async (change: (artifacts: InMemoryArtifactService) => void = () => {}) => {
      const { artifacts, id, name, readBy } = await kept();
      change(artifacts);
      const host = readBy(by === 'by its name' ? name : id);
      const copy = await host.open('bot', { sessionId: 's', fork: true });
      const found = async () => answers(await say(copy, 'read'), 'read_result')[0] ?? '';
      return { artifacts, name, found, copy: { ...key, id: copy.id } };
    };

    test('CMP-19 the artifact was copied with it; whatever becomes of the original’s, or is saved under its name', async () => {
      const { artifacts, name, found, copy } = await copied();
      await artifacts.erase(key);
      expect(await found()).toContain('MIDDLE-FACT');
      expect(await artifacts.save(copy, name, bytesOf('OTHER'))).toBe(2);
      expect(await found()).toContain('MIDDLE-FACT');
      expect(await artifacts.list(key)).toEqual([]);
    });

    test.each([
      ['a service that copies nothing', undefined],
      ['one that fails', () => Promise.reject(new Error('no room'))],
    ])('with %s the log is read, and says what is missing', async (_, copies) => {
      const { artifacts, name, found, copy } = await copied((service) => {
        Object.assign(service, { copy: copies });
      });
      expect(await found()).toMatch(lacks);
      expect(await found()).not.toContain('MIDDLE-FACT');
      // A file of the copy by that name is another one.
      await artifacts.save(copy, name, bytesOf('OTHER'));
      expect(await found()).not.toContain('MIDDLE-FACT');
    });
  });

  test('where it is erased, and where there is no artifact service any more', async () => {
    const { artifacts, id, readBy } = await kept();
    const without = await readBy(id, { from: { services: {} } } as never).open('bot', { sessionId: 's' });
    expect(answers(await say(without, 'read'), 'read_result')[0]).toMatch(lacks);
    await artifacts.erase(key);
    const gone = await readBy(id).open('bot', { sessionId: 's' });
    expect(answers(await say(gone, 'read'), 'read_result')[0]).toMatch(lacks);
  });

  test('a later version of the artifact is not taken for it', async () => {
    const { artifacts, id, name, readBy } = await kept();
    await artifacts.save(key, name, bytesOf('OTHER'));
    const [found] = answers(await say(await readBy(id).open('bot', { sessionId: 's' }), 'read'), 'read_result');
    expect(found).toContain('MIDDLE-FACT');
  });
});
