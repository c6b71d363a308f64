import { describe, expect, test } from 'vitest';
import type { Principal } from '../../src/contracts/index.ts';
import type { AnyTool } from '../../src/index.ts';
import { createHost, defineAgentTool, fromAgent } from '../../src/index.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';
import { Raw } from './raw.ts';

/** `audit` sees what happened, `support` what was said, too, `bens` that of ben alone. */
function scopeOf({ roles = [] }: Principal) {
  if (roles.includes('audit')) return {};
  if (roles.includes('support')) return { content: true };
  if (roles.includes('bens')) return { users: ['ben'], content: true };
  return undefined;
}

async function shop(decision: Parameters<typeof policyOf>[0][string] = { outcome: 'allow', redact: ['/card'] }) {
  const pay = notingTool('pay');
  const usage = { inputTokens: 10, outputTokens: 2, cost: { usd: 0.01 } };
  const model = bot([
    { calls: [['pay', { amount: 30, card: '4242-4242' }]], usage },
    { deltas: ['Paid with 4242-4242.'], usage },
    'Hello to you.',
  ]);
  const { host } = hostOf(model, { tools: [pay.tool as AnyTool], policy: policyOf({ pay: decision }) });
  const server = await serving(host, { operator: scopeOf });
  return { server, host };
}

async function talked() {
  const { server, host } = await shop();
  const [anna, ben] = [await client(server, 'anna'), await client(server, 'ben')];
  const session = await anna.open('bot', { sessionId: 'annas', create: true });
  await all(session.stream('pay with 4242-4242, said the secret customer'));
  await all((await ben.open('bot', { sessionId: 'bens', create: true })).stream('hello'));
  return { server, host, anna, ben, session };
}

const place = { agent: 'bot', userId: 'anna', sessionId: 'annas' };
const forbidden = { code: 'E_FORBIDDEN' };
const missing = { code: 'E_SESSION_NOT_FOUND' };

describe('operators', () => {
  test('WS-80 sessions of others are for operators alone, in their scope; out of it is as if it were not there', async () => {
    const { server, anna } = await talked();
    expect(anna.operator).toBeUndefined();
    const audit = await client(server, 'olga:audit');
    const bens = await client(server, 'paul:bens');
    const ids = async (who: typeof audit) => (await who.operator?.sessions())?.sessions.map(({ id }) => id).toSorted();
    expect(await ids(audit)).toEqual(['annas', 'bens']);
    expect(await ids(bens)).toEqual(['bens']);
    expect(await all(audit.operator?.events(place) ?? never())).not.toEqual([]);
    for (const other of [place, { ...place, userId: 'carl' }]) {
      await expect(all(bens.operator?.events(other) ?? never())).rejects.toMatchObject(missing);
    }
    await expect(all(audit.operator?.events({ ...place, sessionId: 'none' }) ?? never())).rejects.toMatchObject(
      missing,
    );
  });

  test('WS-80 a client that is no operator is refused, whatever it sends; so is one whose scope cannot be told', async () => {
    const { server, host } = await talked();
    const socket = await Raw.ready(server.url, 'eve');
    for (const [method, params] of [
      ['operator/sessions', {}],
      ['operator/events', place],
    ] as const) {
      expect(await socket.request(method, params)).toMatchObject({ error: { data: forbidden } });
    }
    const warnings: string[] = [];
    const faults = {
      thrown: () => {
        throw new Error('no directory');
      },
      misspelt: () => ({ user: ['ben'] }) as object,
    };
    for (const operator of Object.values(faults)) {
      const other = await serving(host, { operator, warn: (message) => warnings.push(message) });
      expect((await client(other, 'olga:audit')).operator).toBeUndefined();
    }
    expect(warnings).toHaveLength(2);
  });

  test('WS-81 an operator changes nothing: the session is not theirs to open or to answer', async () => {
    const { server } = await shop({ outcome: 'ask' });
    const anna = await client(server, 'anna');
    const session = await anna.open('bot', { sessionId: 'annas', create: true });
    await all(session.stream('pay'));
    const [open] = await session.pending();
    const support = await client(server, 'sam:support');
    await expect(support.open('bot', { sessionId: 'annas' })).rejects.toMatchObject(missing);
    const answer = support.approvals.decide(open?.requestId ?? '', 'approve', place);
    await expect(answer).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
    expect(await support.approvals.list()).toEqual([]);
    // Nothing was decided on the call yet: nothing of its arguments is shown.
    const events = await all(support.operator?.events(place) ?? never());
    expect(events.find(({ type }) => type === 'tool_request')).toMatchObject({ name: 'pay', args: {} });
    expect(JSON.stringify(events)).not.toContain('4242-4242');
  });

  test('WS-82 without content there are no words, arguments, results or titles, and what happened is there', async () => {
    const { server, anna, session } = await talked();
    await session.update({ title: 'the secret customer' });
    const audit = await client(server, 'olga:audit');
    const events = await all(audit.operator?.events(place) ?? never());
    const stored = await all((await anna.open('bot', { sessionId: 'annas' })).events());
    expect(events.map(({ type, id, cursor, timestamp }) => [type, id, cursor, timestamp])).toEqual(
      stored.map(({ type, id, cursor, timestamp }) => [type, id, cursor, timestamp]),
    );
    const { sessions = [] } = (await audit.operator?.sessions({ user: 'anna' })) ?? {};
    const text = JSON.stringify([events, sessions]);
    for (const secret of ['4242-4242', 'secret', 'Paid', '30', 'done'])
      expect(text.replaceAll(/"(id|\w+Id|timestamp|\w+At)":"[^"]*"/g, '')).not.toContain(secret);
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool_request', name: 'pay', args: {} }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'custom', data: expect.objectContaining({ outcome: 'approved', by: 'policy' }) }),
    );
    expect(events.every((event) => (event as { _meta?: { redacted?: boolean } })._meta?.redacted === true)).toBe(true);
  });

  test('WS-83 with content it is all there, but for what policy hides: in arguments, and in what was said in that turn', async () => {
    const { server } = await talked();
    const support = await client(server, 'sam:support');
    for (let round = 0; round < 2; round++) {
      const events = await all(support.operator?.events(place) ?? never());
      const text = JSON.stringify(events);
      expect(text).not.toContain('4242-4242');
      expect(text).toContain('said the secret customer');
      expect(events.find(({ type }) => type === 'tool_request')).toMatchObject({
        args: { amount: 30, card: '[redacted]' },
      });
      expect(events.filter(({ type }) => type === 'message').at(-1)).toMatchObject({
        content: [{ type: 'text', text: 'Paid with [redacted].' }],
      });
    }
    // Page by page it is the same.
    const cursors = (await all(support.operator?.events(place) ?? never())).map(({ cursor }) => cursor);
    const [first] = cursors;
    const rest = await all(support.operator?.events(place, { after: first ?? '' }) ?? never());
    expect(rest.map(({ cursor }) => cursor)).toEqual(cursors.slice(1));
    expect(JSON.stringify(rest)).not.toContain('4242-4242');
  });

  test('WS-90 the content of artifacts: for its owner, and for operators with content where nothing is hidden; bounded, by version', async () => {
    const keep = defineAgentTool({
      name: 'keep',
      description: 'Keeps.',
      inputSchema: { type: 'object' },
      execute: async ({ name, bytes }, { artifacts }) => {
        await artifacts.save(String(name), { mimeType: 'text/plain', data: new Uint8Array(Number(bytes)).fill(65) });
        return 'kept';
      },
    });
    const calls = [
      ['keep', { name: 'note', bytes: 2 }],
      ['keep', { name: 'note', bytes: 3 }],
      ['keep', { name: 'big', bytes: 2 ** 21 }],
      ['keep', { name: 'user:all', bytes: 1 }],
    ] as const;
    const pay = notingTool('pay');
    const script = [{ calls: [...calls] }, 'Kept.', { calls: [['pay', { card: '42' }]] }, 'Paid.'];
    const agent = bot(script as never, { tools: [keep] });
    const artifacts = new InMemoryArtifactService();
    const load = artifacts.load.bind(artifacts);
    const loaded: string[] = [];
    artifacts.load = (key, name, version) => {
      loaded.push(name);
      return load(key, name, version);
    };
    const source = fromAgent(agent, { services: { artifacts } });
    const policy = policyOf({ pay: { outcome: 'allow', redact: ['/card'] } });
    const host = createHost({ app: 'shop', agents: [source], tools: [pay.tool as AnyTool], policy });
    const server = await serving(host, { operator: scopeOf });
    const [anna, ben, support, audit, bens] = await Promise.all(
      ['anna', 'ben', 'sam:support', 'olga:audit', 'paul:bens'].map((token) => client(server, token)),
    );
    const session = await anna!.open('bot', { sessionId: 'annas', create: true });
    await all(session.stream('keep'));
    const note = { name: 'note', version: 2, mimeType: 'text/plain', size: 3, data: 'QUFB' };
    expect(await session.artifact('note')).toEqual(note);
    expect(await session.artifact('note', 1)).toMatchObject({ version: 1, data: 'QUE=' });
    expect(await session.artifact('note', 9)).toEqual({ name: 'note' });
    expect(await session.artifact('big')).toEqual({ name: 'big', version: 1, mimeType: 'text/plain', size: 2 ** 21 });
    // What is too large to be sent is not read.
    expect(loaded).not.toContain('big');
    expect(await session.artifact('user:all')).toMatchObject({ data: 'QQ==' });
    await expect(session.artifact('../annas/note')).rejects.toMatchObject({ code: 'E_ID' });
    const asked = (who: typeof support, name: string) => who!.operator!.artifact(place, name);
    expect(await asked(support, 'note')).toEqual(note);
    expect(await asked(support, 'user:all')).toMatchObject({ size: 1, withheld: expect.any(String) });
    expect(await asked(support, 'user:all')).not.toHaveProperty('data');
    await expect(asked(audit, 'note')).rejects.toMatchObject(forbidden);
    await expect(asked(bens, 'note')).rejects.toMatchObject(missing);
    const raw = await Raw.ready(server.url, 'ben');
    expect(await raw.request('operator/artifact', { ...place, name: 'note' })).toMatchObject({
      error: { data: forbidden },
    });
    expect(await raw.request('session/artifact', { sessionId: 'annas', name: 'note' })).toMatchObject({
      error: { data: missing },
    });
    expect(ben!.operator).toBeUndefined();
    // What policy hides of any call may be in any of them.
    await all(session.stream('pay'));
    expect(await asked(support, 'note')).toEqual({ ...note, data: undefined, withheld: expect.any(String) });
    expect(await session.artifact('note')).toEqual(note);
  });

  test('WS-89 the message that begins a turn says by which trace; what is none is not shown; an operator without content sees it', async () => {
    const { server, anna, session } = await talked();
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    await all(session.stream('hello', { traceContext: { traceparent } }));
    await all(session.stream('hello', { traceContext: { traceparent: 'javascript:alert(1)' } }));
    const audit = await client(server, 'olga:audit');
    for (const events of [
      await all((await anna.open('bot', { sessionId: 'annas' })).events()),
      await all(audit.operator?.events(place) ?? never()),
    ]) {
      const given = events.map(({ _meta }) => (_meta as { traceparent?: string } | undefined)?.traceparent);
      expect(given.filter((one) => one !== undefined)).toEqual([traceparent]);
    }
  });

  test('WS-87 anybody finds their own sessions by the same, in the server, and those of nobody else', async () => {
    const { anna, ben, session } = await talked();
    await session.update({ title: 'Shoes' });
    const found = async (who: typeof anna, query: object) =>
      (await who.findSessions(query)).sessions.map(({ id, agent, title }) => `${agent}/${id} ${title ?? ''}`);
    expect(await found(anna, {})).toEqual(['bot/annas Shoes']);
    expect(await found(anna, { tool: 'pay', state: 'rests', agent: 'bot', search: 'SHOES' })).toEqual([
      'bot/annas Shoes',
    ]);
    for (const query of [{ tool: 'refund' }, { state: 'waits' }, { agent: 'other' }, { before: '2020-01-01' }])
      expect(await found(anna, query)).toEqual([]);
    expect(await found(ben, { search: 'annas' })).toEqual([]);
    expect(await found(ben, { tool: 'pay' })).toEqual([]);
    await expect(ben.findSessions({ after: 'annas' })).rejects.toMatchObject(missing);
    for (const id of ['a2', 'a3']) await anna.open('bot', { sessionId: id, create: true });
    const first = await anna.findSessions({ limit: 2 });
    const rest = await anna.findSessions({ limit: 2, after: first.after ?? '' });
    expect([...first.sessions, ...rest.sessions].map(({ id }) => id)).toEqual(['a3', 'a2', 'annas']);
    expect(rest.after).toBeUndefined();
  });

  test('WS-88 a list has steps, tokens and cost of each log, also where there is no content, and no names of tools', async () => {
    const { server, anna } = await talked();
    const audit = await client(server, 'olga:audit');
    const lists = [
      await anna.sessions().list(),
      (await anna.findSessions()).sessions,
      (await audit.operator?.sessions({ user: 'anna' }))?.sessions ?? [],
    ];
    for (const [one] of lists) {
      expect(one).toMatchObject({ id: 'annas', agent: 'bot', steps: 2, inputTokens: 20, outputTokens: 4, usd: 0.02 });
      expect(one).not.toHaveProperty('tools');
    }
  });

  test('WS-84 sessions are found by agent, user, state, tool, time and words, page by page', async () => {
    const { server, session } = await talked();
    await session.update({ title: 'Shoes' });
    const audit = await client(server, 'olga:audit');
    const support = await client(server, 'sam:support');
    const found = async (who: typeof audit, query: object) =>
      (await who.operator?.sessions(query))?.sessions.map(({ id, agent }) => `${agent}/${id}`).toSorted();
    expect(await found(audit, { agent: 'bot' })).toEqual(['bot/annas', 'bot/bens']);
    expect(await found(audit, { agent: 'other' })).toEqual([]);
    expect(await found(audit, { user: 'ben' })).toEqual(['bot/bens']);
    expect(await found(audit, { state: 'rests', search: 'ANNA' })).toEqual(['bot/annas']);
    expect(await found(audit, { state: 'waits' })).toEqual([]);
    // A title is what somebody has said.
    expect(await found(audit, { search: 'shoes' })).toEqual([]);
    expect(await found(support, { search: 'shoes' })).toEqual(['bot/annas']);
    const [{ updatedAt = '' } = {}] = (await audit.operator?.sessions({ user: 'anna' }))?.sessions ?? [];
    const later = new Date(Date.parse(updatedAt) + 1).toISOString();
    expect(await found(audit, { tool: 'pay' })).toEqual(['bot/annas']);
    // A part of a name finds nothing, and a session out of scope is not found by what was called in it.
    for (const tool of ['pa', 'PAY', '%']) expect(await found(audit, { tool })).toEqual([]);
    expect(await (await client(server, 'paul:bens')).operator?.sessions({ tool: 'pay' })).toEqual({ sessions: [] });
    expect(await found(audit, { since: updatedAt, user: 'anna' })).toEqual(['bot/annas']);
    expect(await found(audit, { since: later, user: 'anna' })).toEqual([]);
    expect(await found(audit, { before: updatedAt, user: 'anna' })).toEqual([]);
    expect(await found(audit, { before: later, user: 'anna' })).toEqual(['bot/annas']);
    await expect(found(audit, { since: 'soon' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    const page = await audit.operator?.sessions({ limit: 1 });
    expect(page?.sessions).toHaveLength(1);
    const next = await audit.operator?.sessions({ limit: 1, after: page?.after ?? '' });
    expect(new Set([...(page?.sessions ?? []), ...(next?.sessions ?? [])].map(({ id }) => id))).toEqual(
      new Set(['annas', 'bens']),
    );
  });
});

function never(): never {
  throw new Error('this principal is no operator');
}
