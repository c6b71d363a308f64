import { connect as connectSocket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent, ReportedRequest } from '../../src/contracts/index.ts';
import { createMcpHttp, serveMcpStdio } from '../../src/host/mcp/index.ts';
import { mcpToolOf } from '../../src/host/mcp/turn/agent-tool.ts';
import { canAsk } from '../../src/host/mcp/turn/asking.ts';
import { HeldSessions } from '../../src/host/mcp/turn/held-sessions.ts';
import { formQuestion } from '../../src/host/mcp/turn/questions.ts';
import { parkedCalls } from '../../src/host/mcp/turn/request-state.ts';
import { failed } from '../../src/host/mcp/turn/result.ts';
import { Turn } from '../../src/host/mcp/turn/turn.ts';
import { CoxswainError, InMemorySessionService } from '../../src/index.ts';
import { connect, kinds, sessionOf, textOf } from './clients.ts';
import { openShop } from './kit.ts';
import { initialize, list, opened, send } from './raw-client.ts';

const waits = { id: 2, method: 'tools/call', params: { name: 'puppet', arguments: { prompt: 'call wait {}' } } };

/** A connection that has sent the head of a request and stays. */
async function halfSent(url: string): Promise<ReturnType<typeof connectSocket>> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connectSocket(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  return socket;
}

const callOf2026 = (prompt: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'puppet',
    arguments: { prompt },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

/** The status of a request for what was missed; what it would listen to is left. */
async function status(url: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  await answer.body?.cancel();
  return answer.status;
}

const disposable = <T extends { close(): Promise<void> }>(one: T) =>
  Object.assign(one, { [Symbol.asyncDispose]: () => one.close() });

describe('what a client is told over HTTP', () => {
  test('a first request that is too long is refused before a session begins', async () => {
    await using shop = await openShop({ mcp: { maxBodyBytes: 1_000 } });
    const params = { ...initialize.params, clientInfo: { name: 'x'.repeat(1_000), version: '1' } };
    const answer = await send(shop.url, { body: { ...initialize, params } });
    expect(answer).toMatchObject({ status: 413, session: undefined });
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32_000 } });
  });

  test('a request of 2026 that is too long is refused', async () => {
    await using shop = await openShop({ mcp: { maxBodyBytes: 1_000 } });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'puppet' };
    const body = callOf2026('x'.repeat(1_000));
    // Read by the server's own port, and by whoever mounts it.
    expect((await send(shop.url, { body, headers })).status).toBe(413);
    await using mcp = disposable(await createMcpHttp(shop.host, { maxBodyBytes: 1_000 }));
    const given = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers };
    const request = { method: 'POST', headers: { host: 'localhost', ...given }, body: JSON.stringify(body) };
    expect((await mcp.fetch(new Request('http://localhost/mcp', request))).status).toBe(413);
  });

  test('an authenticator that breaks is an internal error in words of the protocol', async () => {
    await using shop = await openShop({
      mcp: {
        authenticate() {
          throw new Error('hush');
        },
      },
    });
    const answer = await send(shop.url, { body: initialize });
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32_603, message: 'Internal error' } });
  });

  test('of what is sent the newest quarter of a mebibyte is kept for whoever comes back', async () => {
    await using shop = await openShop();
    const session = await opened(shop.url);
    const say = (size: number, id: number) =>
      send(shop.url, {
        body: {
          ...list,
          id,
          method: 'tools/call',
          params: { name: 'puppet', arguments: { prompt: `say ${'x'.repeat(size)}` } },
        },
        headers: session,
      });
    const idOf = ({ text }: { text: string }) => /^id: (.*)$/m.exec(text)?.[1] ?? '';
    const first = idOf(await say(1_000, 10));
    const missed = () => status(shop.url, { ...session, 'last-event-id': first });
    await say(150_000, 11);
    expect(await missed()).toBe(200);
    await say(150_000, 12);
    expect(await missed()).toBe(400);
  });

  test('an event that is not kept any more is refused in words of the protocol', async () => {
    await using shop = await openShop();
    const session = await opened(shop.url);
    const answer = await send(shop.url, { method: 'GET', headers: { ...session, 'last-event-id': '4711' } });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: -32_000, message: expect.stringContaining('may be lost') },
    });
  });

  test('a refusal is JSON, and its connection ends with it', async () => {
    await using shop = await openShop();
    const answer = await fetch(shop.url, { method: 'POST', headers: { origin: 'https://evil.test' }, body: '{}' });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.headers.get('connection')).toBe('close');
  });

  test.each(['TRACE', 'TRACK'])('%s, which no request may be, is refused and the server lives', async (method) => {
    await using shop = await openShop();
    expect((await send(shop.url, { method })).status).toBeGreaterThanOrEqual(400);
    expect((await send(shop.url, { body: initialize })).status).toBe(200);
  });

  test('a connection that never ends its request does not keep the server from closing', async () => {
    const shop = await openShop();
    const socket = await halfSent(shop.url);
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await shop[Symbol.asyncDispose]();
    await ended;
  });

  test('a question that was not answered in time is no reason to end a session whose other call works', async () => {
    await using shop = await openShop();
    const mcp = await createMcpHttp(shop.host, { maxSessions: 1, answerMs: 50 });
    const post = (body: object, session = '') =>
      mcp.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            host: 'localhost',
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            ...(session ? { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' } : {}),
          },
          body: JSON.stringify({ jsonrpc: '2.0', ...body }),
        }),
      );
    const began = await post({ ...initialize, params: { ...initialize.params, capabilities: { elicitation: {} } } });
    await began.text();
    const session = began.headers.get('mcp-session-id') ?? '';
    const working = await post(waits, session);
    await shop.waiting.started;
    const asks = { prompt: 'call pay {"amount": 5}' };
    const asking = await post({ ...waits, id: 3, params: { name: 'puppet', arguments: asks } }, session);
    expect(await asking.text()).toContain('nobody answered in time');
    await working.body?.cancel();
    // One call works, and nothing waits for the client that is gone.
    expect((await post(initialize)).status).toBe(503);
    shop.waiting.release();
    await mcp.close();
  });
});

test('an output schema is shown where it is one of an object, as the protocol has it', () => {
  const shown = (outputSchema: object) => mcpToolOf({ name: 'clerk', outputSchema } as never, true).outputSchema;
  expect(shown({ type: 'object' })).toEqual({ type: 'object' });
  expect(shown({ type: 'string' })).toBeUndefined();
});

test('all agents of a host are offered where none are named', async () => {
  await using shop = await openShop();
  await using client = await connect('v1', { url: shop.url });
  expect((await client.tools()).map(({ name }) => name)).toEqual(['puppet']);
});

describe('what a caller may be asked', () => {
  const asks = (more: object) =>
    formQuestion(
      { requestId: 'r', sessionId: 's', kind: 'elicitation', agentPath: ['clerk'], message: 'What?', ...more } as never,
      { id: 'anna' },
    );

  test.each([{}, { requestedSchema: { type: 'object', properties: { key: { type: 'string' } } } }])(
    'never a credential, in a form or without: %j',
    (more) => {
      expect(asks({ elicitation: 'auth_required', ...more } as Partial<ReportedRequest>)).toBe(
        'it asks for a credential, which may not pass through a form',
      );
    },
  );

  test('a question without words has its title, or the name of who asks', () => {
    const formOf = (more: object) => asks({ message: undefined, kind: 'elicitation', ...more });
    expect(formOf({ agentPath: ['front', 'clerk'] })).toMatchObject({ form: { message: 'clerk asks' } });
    const approval = { title: 'Pay 5', requestedBy: { id: 'anna' }, previewDigest: 'd', preview: [] };
    expect(formOf({ kind: 'tool', name: 'pay', args: {}, approval })).toMatchObject({
      form: { message: expect.stringContaining('Pay 5') },
    });
  });

  test('words where no form is given, a decision where a yes or a no is wanted', () => {
    expect(asks({ elicitation: 'user_input' })).toMatchObject({ form: { requestedSchema: { required: ['answer'] } } });
    expect(asks({ elicitation: 'rerun_unknown' })).toMatchObject({
      form: { requestedSchema: { required: ['decision'] } },
    });
  });

  test.each([
    [undefined, false],
    [{}, false],
    [{ elicitation: {} }, true],
    [{ elicitation: { url: {} } }, false],
    [{ elicitation: { url: {}, form: {} } }, true],
  ])('a client with the capabilities %j: %s', (capabilities, expected) => {
    expect(canAsk(capabilities)).toBe(expected);
  });

  test('a parked call is good for as long as a person has to answer, and no longer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const codec = await parkedCalls(undefined, 60_000, () => 'anna');
      const context = { mcpReq: { method: 'tools/call' } } as never;
      const state = await codec.mint({ agent: 'a', sessionId: 's', turnId: 't', asked: [] }, context);
      vi.advanceTimersByTime(55_000);
      expect(await codec.verify(state, context)).toMatchObject({ sessionId: 's' });
      vi.advanceTimersByTime(10_000);
      await expect(codec.verify(state, context)).rejects.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });
});

test('a session whose caller did not come back in time is closed, and is nobody’s any more', async () => {
  const closed: string[] = [];
  const gone = Promise.withResolvers<void>();
  const held = new HeldSessions(1, () => {});
  const place = held.place('ann');
  held.keep(place, {
    id: 's',
    async [Symbol.asyncDispose]() {
      closed.push('s');
      gone.resolve();
    },
  } as never);
  await gone.promise;
  expect(held.take(place)).toBeUndefined();
  expect(closed).toEqual(['s']);
});

describe('what a turn has come to', () => {
  const event = (more: object) => ({ agentPath: ['puppet'], ...more }) as unknown as AgentEvent;
  const says = (text: string, more: object = {}) =>
    event({ type: 'message', role: 'agent', content: [{ type: 'text', text }], ...more });

  test('the words of another agent inside it are not its answer', () => {
    const turn = new Turn();
    turn.push(says('from below', { threadId: 'sub' }));
    turn.push(says('from above'));
    expect(turn.parts).toEqual([{ type: 'text', text: 'from above' }]);
  });

  test('an end without a reason of its own has none to tell', () => {
    const turn = new Turn();
    turn.push(event({ type: 'stream_end', reason: 'aborted', data: {} }));
    expect(turn.error).toBeUndefined();
    const told = new Turn();
    told.push(event({ type: 'stream_end', reason: 'aborted', data: { reason: 'enough' } }));
    expect(told.error).toBe('enough');
  });

  test('a failure before there is a session is an error of the call, and names no session', () => {
    const result = failed('E_X: no', { tellsSession: true } as never);
    expect(result).toEqual({ content: [{ type: 'text', text: 'E_X: no' }], isError: true });
  });
});

/** It loses its disk once a tool has answered, or before it can say so. */
class Failing extends InMemorySessionService {
  isBroken = false;
  readonly #when: 'before' | 'after';

  #isMended = false;

  constructor(when: 'before' | 'after') {
    super();
    this.#when = when;
  }

  mend(): void {
    this.isBroken = false;
    this.#isMended = true;
  }

  override async append(...given: Parameters<InMemorySessionService['append']>) {
    const parts = given[1].flatMap((event) => event.content?.parts ?? []);
    const isResult = !this.#isMended && parts.some(({ type }) => type === 'function_response');
    if (isResult && this.#when === 'before') this.isBroken = true;
    if (this.isBroken) throw new CoxswainError('UNAVAILABLE', 'E_UNAVAILABLE', 'the disk is full');
    const stored = await super.append(...given);
    if (isResult) this.isBroken = true;
    return stored;
  }
}

test.each(kinds)('%s: what had run when the store broke is told with the error', async (kind) => {
  await using shop = await openShop({ store: new Failing('after') });
  shop.waiting.release();
  await using client = await connect(kind, { url: shop.url });
  const result = await client.call('puppet', { prompt: 'call wait {}' });
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'coxswain/calls': [expect.objectContaining({ name: 'wait', outcome: 'ran' })] },
  });
  expect(textOf(result)).toContain('E_UNAVAILABLE: the disk is full');
  expect(textOf(result)).toContain('Ran: wait.');
});

test.each(kinds)('%s: a call of a conversation that is busy says so, and nothing of the other call', async (kind) => {
  await using shop = await openShop();
  await using client = await connect(kind, { url: shop.url });
  const first = await client.call('puppet', { prompt: 'say hello' });
  const session_id = sessionOf(first);
  const working = client.call('puppet', { prompt: 'call wait {}', session_id });
  await shop.waiting.started;
  const result = await client.call('puppet', { prompt: 'say hello', session_id });
  expect(result).toMatchObject({ isError: true, _meta: { 'coxswain/sessionId': session_id } });
  expect(result._meta).not.toHaveProperty('coxswain/calls');
  expect(textOf(result)).toMatch(/^E_SESSION_BUSY: /);
  shop.waiting.release();
  await working;
});

test.each(kinds)('%s: a call that was cut off is nobody’s question: the next message is delivered', async (kind) => {
  const store = new Failing('before');
  await using shop = await openShop({ store });
  shop.waiting.release();
  await using client = await connect(kind, { url: shop.url });
  const cut = await client.call('puppet', { prompt: 'call wait {}' });
  expect(cut.isError).toBe(true);
  store.mend();
  const result = await client.call('puppet', { prompt: 'say hello', session_id: sessionOf(cut) });
  expect(textOf(result)).toMatch(/^hello\nDenied or cancelled: wait\./);
});

test.each(kinds)('%s: a call that another client has to run keeps a new message out', async (kind) => {
  await using shop = await openShop();
  await using client = await connect(kind, { url: shop.url });
  const session_id = sessionOf(await client.call('puppet', { prompt: 'say hello' }));
  {
    await using session = await shop.host.open('puppet', { sessionId: session_id });
    const tools = [{ name: 'mine', description: 'Is run by its client.', inputSchema: { type: 'object' } }] as const;
    for await (const _ of session.stream('call mine {}', { tools }));
    expect((await session.pending()).map(({ name }) => name)).toEqual(['mine']);
  }
  const result = await client.call('puppet', { prompt: 'say hello', session_id });
  expect(textOf(result)).toContain('waits for an answer to an earlier question');
  expect(result).toMatchObject({ isError: true, _meta: { 'coxswain/open': [expect.any(String)] } });
});

test.each(['deny', 'park'] as const)('a caller that is lost while it is asked, where %s is the rule', async (rule) => {
  await using shop = await openShop();
  const input = new PassThrough();
  const output = new PassThrough();
  const server = await serveMcpStdio(shop.host, { input, output, unanswerable: rule });
  const sent = new Promise<void>((resolve) => {
    let seen = '';
    output.on('data', (chunk) => {
      seen += String(chunk);
      if (seen.includes('elicitation/create')) resolve();
    });
  });
  const write = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  write({ ...initialize, params: { ...initialize.params, capabilities: { elicitation: {} } } });
  write({ method: 'notifications/initialized' });
  write({ ...waits, params: { name: 'puppet', arguments: { prompt: 'call pay {"amount": 5}' } } });
  await sent;
  expect(await shop.host.approvals.list()).toHaveLength(1);
  input.end();
  await server.close();
  await expect.poll(async () => (await shop.host.approvals.list()).length).toBe(rule === 'deny' ? 0 : 1);
  expect(shop.runs).toEqual([]);
});
