import type { ServerContext } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AgentEvent, Session } from '../../src/contracts/index.ts';
import { withNamedTypes } from '../../src/host/mcp/http/accept.ts';
import { mcpToolOf, toolName } from '../../src/host/mcp/turn/agent-tool.ts';
import { byPushing } from '../../src/host/mcp/turn/asking.ts';
import { LoggedTurns, TurnPlaces } from '../../src/host/mcp/turn/logged-turns.ts';
import { Progress } from '../../src/host/mcp/turn/progress.ts';
import { callToolResult } from '../../src/host/mcp/turn/result.ts';
import { loadServerSdk } from '../../src/host/mcp/turn/sdk.ts';
import { Turn } from '../../src/host/mcp/turn/turn.ts';

describe('the types that a request takes', () => {
  const both = 'application/json, text/event-stream';
  const acceptOf = (method: string, accept: string | undefined) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    return withNamedTypes(new Request('http://127.0.0.1/mcp', { method, headers })).headers.get('accept');
  };

  test.each([
    ['POST', undefined, both],
    ['POST', '*/*', both],
    ['POST', 'application/*, text/*', both],
    ['POST', both, both],
    ['GET', 'text/*', both],
    ['GET', '*/*;q=0.1', both],
  ])('%s with %s is answered', (method, accept, wanted) => {
    expect(acceptOf(method, accept)).toBe(wanted);
  });

  test.each([
    ['POST', 'text/event-stream'],
    ['POST', 'application/json'],
    ['POST', '*/*, application/json;q=0'],
    ['GET', 'application/json'],
    ['GET', 'text/event-stream;q=0, */*'],
    ['GET', 'image/*'],
  ])('%s with %s stays as it is, for the transport to refuse', (method, accept) => {
    expect(acceptOf(method, accept)).toBe(accept);
  });
});

describe('progress of a call', () => {
  const warnings: string[] = [];
  const told: unknown[] = [];
  afterEach(() => {
    vi.useRealTimers();
    warnings.length = 0;
    told.length = 0;
  });
  const request = { type: 'tool_request', name: 'pay' } as AgentEvent;

  function progress(options: { token?: string; fails?: boolean; signal?: AbortSignal } = {}) {
    const notify = async ({ params }: { params: unknown }) => {
      told.push(params);
      if (options.fails) throw new Error('gone');
    };
    const _meta = options.token === undefined ? {} : { progressToken: options.token };
    const context = { mcpReq: { _meta, notify, signal: options.signal ?? new AbortController().signal } };
    return new Progress(context as unknown as ServerContext, 1_000, (message) => warnings.push(message));
  }

  test('numbers rise, with the name of a call and without its arguments', () => {
    vi.useFakeTimers();
    const shown = progress({ token: 't' });
    shown.start();
    shown.see(request);
    shown.see({ type: 'message' } as AgentEvent);
    shown.waits();
    vi.advanceTimersByTime(1_000);
    shown.stop();
    vi.advanceTimersByTime(10_000);
    shown.see(request);
    expect(told).toEqual(
      ['started', 'calls pay', 'waits for an answer', 'working'].map((message, n) => ({
        progressToken: 't',
        progress: n + 1,
        message,
      })),
    );
  });

  test('ATK3-13 of what a caller does not read the newest is sent once they read', async () => {
    const sent: string[] = [];
    const read = Promise.withResolvers<void>();
    const notify = ({ params }: { params: { message: string } }) => {
      sent.push(params.message);
      return read.promise;
    };
    const mcpReq = { _meta: { progressToken: 't' }, signal: new AbortController().signal, notify };
    const shown = new Progress({ mcpReq } as unknown as ServerContext, 1_000, () => {});
    for (let n = 0; n < 1_000; n++) shown.see({ type: 'tool_request', name: `tool${n}` } as AgentEvent);
    expect(sent).toHaveLength(16);
    read.resolve();
    await vi.waitFor(() => expect(sent).toHaveLength(17));
    expect(sent.at(-1)).toBe('calls tool999');
  });

  test('ATK3-13 sibling: after 1,000 messages calls of tools are news no more', async () => {
    vi.useFakeTimers();
    const shown = progress({ token: 't' });
    shown.start();
    for (let n = 0; n < 1_100; n++) {
      shown.see(request);
      // It is sent.
      for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    }
    expect(told).toHaveLength(1_000);
    vi.advanceTimersByTime(1_000);
    expect(told).toHaveLength(1_001);
    shown.stop();
  });

  test('nobody is told who has given no token, or has left', () => {
    const quiet = progress();
    quiet.start();
    quiet.see(request);
    const gone = progress({ token: 't', signal: AbortSignal.abort() });
    gone.start();
    gone.see(request);
    gone.stop();
    expect(told).toEqual([]);
  });

  test('what could not be sent is worth a warning while the call runs, and its caller is there', async () => {
    progress({ token: 't', fails: true }).see(request);
    await vi.waitFor(() => expect(warnings).toEqual(['progress could not be sent']));
    const over = progress({ token: 't', fails: true });
    over.see(request);
    over.stop();
    const leaving = new AbortController();
    progress({ token: 't', fails: true, signal: leaving.signal }).see(request);
    leaving.abort();
    // What they would say comes in the order in which it was begun.
    const last = progress({ token: 't', fails: true });
    last.see(request);
    await vi.waitFor(() => expect(warnings).toHaveLength(2));
    expect(told).toHaveLength(4);
  });
});

describe('a turn as the log tells it', () => {
  const event = (turnId: string | undefined, members: object) =>
    ({ ...(turnId === undefined ? {} : { turnId }), ...members }) as AgentEvent;
  const said = (turnId: string, text: string) =>
    event(turnId, { type: 'message', role: 'agent', content: [{ type: 'text', text }] });
  const log = [
    event(undefined, { type: 'session_start' }),
    said('one', 'first'),
    event('one', { type: 'tool_request', requestId: 'a', name: 'pay' }),
    said('two', 'second'),
    event('two', { type: 'error', fatal: true, code: 'E', message: 'broke' }),
    event('two', { type: 'stream_end', reason: 'failed', data: {} }),
    event(undefined, { type: 'stream_end', reason: 'completed', data: {} }),
  ];
  const session = {
    async *events() {
      yield* log;
    },
  } as unknown as Session;

  test('only its own events count', async () => {
    const logged = new LoggedTurns(session, new TurnPlaces(), 's');
    const one = await logged.of('one');
    expect(one).toMatchObject({ id: 'one', reason: undefined, parts: [{ type: 'text', text: 'first' }] });
    expect([...one.calls]).toEqual([['a', { name: 'pay', outcome: 'waiting' }]]);
    const two = await logged.of('two');
    expect(two).toMatchObject({ id: 'two', reason: 'failed', error: 'E: broke' });
    expect(two.calls.size).toBe(0);
    expect(await logged.of(undefined)).toMatchObject({ id: undefined, parts: [] });
  });

  test('events of no turn leave its id as it is', () => {
    const turn = new Turn();
    turn.push(said('one', 'first'));
    turn.push(event(undefined, { type: 'usage' }));
    expect(turn.id).toBe('one');
  });

  test('what the agent said is its output where it is JSON, else there is none', () => {
    const turn = new Turn();
    turn.push(said('one', '{"a": 1}'));
    expect(turn.output).toEqual({ a: 1 });
    turn.push(said('one', ' and more'));
    expect(turn.output).toBeUndefined();
  });

  test('a turn that did not finish says why where that is known', () => {
    const tool = mcpToolOf({ name: 'clerk', description: '' } as Parameters<typeof mcpToolOf>[0], false);
    const about = { id: 's' } as Session;
    const words = (...before: AgentEvent[]) => {
      const turn = new Turn();
      for (const seen of [...before, event('one', { type: 'stream_end', reason: 'failed', data: {} })]) turn.push(seen);
      return (callToolResult(tool, about, turn).content[0] as { text: string }).text;
    };
    const error = event('one', { type: 'error', fatal: true, code: 'E', message: 'broke' });
    expect(words(error)).toBe('clerk did not finish: failed (E: broke)');
    expect(words()).toBe('clerk did not finish: failed');
  });
});

describe('what a turn that has ended comes to', () => {
  const about = { id: 's' } as Session;
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const ended = (words: string | undefined, output?: unknown) => {
    const turn = new Turn();
    if (words !== undefined) {
      turn.push({
        type: 'message',
        role: 'agent',
        turnId: 'one',
        content: [{ type: 'text', text: words }],
      } as AgentEvent);
    }
    turn.push({ type: 'stream_end', turnId: 'one', reason: 'completed', data: { output } } as unknown as AgentEvent);
    return turn;
  };
  const come = (turn: Turn, more: object = {}) =>
    callToolResult(mcpToolOf({ name: 'clerk', ...more } as Parameters<typeof mcpToolOf>[0], false), about, turn);

  test('words without a schema, and an empty text where there are none', () => {
    expect(come(ended('hello'))).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    expect(come(ended('hello'))).not.toHaveProperty('isError');
    expect(come(ended(undefined)).content).toEqual([{ type: 'text', text: '' }]);
  });

  test('an output that fits its schema', () => {
    expect(come(ended('words', { n: 1 }), { outputSchema })).toMatchObject({ structuredContent: { n: 1 } });
    expect(come(ended('{"n": 2}'), { outputSchema })).toMatchObject({ structuredContent: { n: 2 } });
  });

  test('one that does not is an error, with the words that were said', () => {
    for (const turn of [ended('words'), ended('words', { n: 'one' })]) {
      const result = come(turn, { outputSchema });
      expect(result).toMatchObject({
        isError: true,
        content: [
          { text: 'clerk answered something that does not fit its output schema' },
          { type: 'text', text: 'words' },
        ],
        _meta: { 'coxswain/sessionId': 's' },
      });
      expect(result).not.toHaveProperty('structuredContent');
    }
  });

  test('a call that is told twice stays what it has come to', () => {
    const turn = new Turn();
    const request = { type: 'tool_request', requestId: 'a', name: 'pay' } as AgentEvent;
    turn.push(request);
    turn.push({ type: 'tool_update', requestId: 'a', status: 'started' } as AgentEvent);
    turn.push(request);
    expect(turn.calls.get('a')).toEqual({ name: 'pay', outcome: 'running' });
  });
});

describe('the name of an agent in the protocol', () => {
  test.each([
    ['as it is where it is legal', 'front.desk-1_a', 'front.desk-1_a'],
    ['at its longest', 'a'.repeat(64), 'a'.repeat(64)],
    ['longer: shortened, with a hash of the whole', 'a'.repeat(65), expect.stringMatching(/^a{53}_[0-9a-f]{10}$/)],
    ['with other letters: a legal form, with a hash', 'fröhlich', expect.stringMatching(/^fr_hlich_[0-9a-f]{10}$/)],
    ['with several in a row: one sign for them', 'frööhlich ', expect.stringMatching(/^fr_hlich__[0-9a-f]{10}$/)],
  ])('%s', (_, name, wanted) => {
    expect(toolName(name)).toEqual(wanted);
    expect(toolName(name).length).toBeLessThanOrEqual(64);
  });

  test('of two that differ in other letters alone, two names', () => {
    expect(toolName('frühlich')).not.toBe(toolName('fröhlich'));
  });
});

describe('the session that a caller goes on with', () => {
  const shownBy = (properties: object | undefined, conversations: boolean) => {
    const inputSchema = properties && { type: 'object', properties };
    const tool = mcpToolOf({ name: 'clerk', inputSchema } as Parameters<typeof mcpToolOf>[0], conversations);
    return { tellsSession: tool.tellsSession, of: tool.sessionOf({ session_id: 's' }) };
  };

  test.each([
    ['without conversations there is none', undefined, false, { tellsSession: false, of: undefined }],
    ['with them it is the member', undefined, true, { tellsSession: true, of: 's' }],
    ['not one of the agent’s own', { session_id: {} }, true, { tellsSession: false, of: undefined }],
    ['nor where there are no conversations', { session_id: {} }, false, { tellsSession: false, of: undefined }],
  ])('%s', (_, properties, conversations, wanted) => {
    expect(shownBy(properties, conversations)).toEqual(wanted);
  });

  test('is no argument of the agent', () => {
    const tool = mcpToolOf({ name: 'clerk', inputSchema: { type: 'object', properties: { n: {} } } } as never, true);
    expect(JSON.parse(tool.messageOf({ n: 1, session_id: 's' }))).toEqual({ n: 1 });
    const own = { type: 'object', properties: { session_id: {} } };
    const other = mcpToolOf({ name: 'clerk', inputSchema: own } as never, true);
    expect(JSON.parse(other.messageOf({ session_id: 's' }))).toEqual({ session_id: 's' });
  });
});

describe('a question that is pushed to its client', async () => {
  const sdk = await loadServerSdk();
  const ask = (send: () => Promise<unknown>, signal = new AbortController().signal) =>
    byPushing(sdk, { form: true, url: false }, 1_000).push?.(
      { form: {} } as Parameters<NonNullable<ReturnType<typeof byPushing>['push']>>[0],
      { mcpReq: { signal, send } } as unknown as ServerContext,
    );
  const failing = (error: Error) => () => Promise.reject(error);
  const late = new sdk.SdkError(sdk.SdkErrorCode.RequestTimeout, 'late');

  test('its answer, and nothing beside it', async () => {
    const answer = { action: 'accept', content: { a: 1 }, more: 1 };
    expect(await ask(() => Promise.resolve(answer))).toEqual({ action: 'accept', content: { a: 1 } });
  });

  test('a late answer is a no, whatever is none is no answer, and what is broken is told', async () => {
    expect(await ask(failing(late))).toEqual({ action: 'decline', reason: 'nobody answered in time' });
    expect(await ask(failing(new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, 'gone')))).toBeUndefined();
    expect(await ask(failing(new sdk.ProtocolError(-32_601, 'unknown')))).toBeUndefined();
    await expect(ask(failing(new TypeError('broken')))).rejects.toThrow('broken');
  });

  test('a caller who has left is not answered for', async () => {
    await expect(ask(failing(late), AbortSignal.abort())).rejects.toBe(late);
  });
});
