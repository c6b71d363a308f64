import { afterEach, expect, test, vi } from 'vitest';
import { Idle } from '../../src/adapters/tools/mcp/wire/idle.ts';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { AgentEvent, HostOptions, OpenApproval } from '../../src/index.ts';
import { allowAll, createHost, defineTool, InMemorySessionService } from '../../src/index.ts';
import { ofType, refusal, results, say, textOfContent } from '../host/kit.ts';
import { all, client, serving } from '../websocket/kit.ts';
import { puppet } from './agents.ts';
import { Foreign, serveForeign } from './foreign.ts';
import { withSessions } from './old-server.ts';

const cleanUp: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0).reverse()) await work();
});

const form = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const }, age: { type: 'integer' as const, default: 7 } },
  required: ['name'],
};

/** A server of each line whose tool `ask` says what it was answered. */
async function server(line: '1.x' | '2.x'): Promise<string> {
  if (line === '2.x') {
    const served = await serveForeign(new Foreign());
    cleanUp.push(() => served[Symbol.asyncDispose]());
    return served.url;
  }
  const served = await withSessions(404, (own) => {
    own.registerTool('ask', { description: 'Asks.' }, async () => {
      const { action, content } = await own.server.elicitInput({
        mode: 'form',
        message: 'Who are you?',
        requestedSchema: form,
      });
      return { content: [{ type: 'text', text: `${action} ${JSON.stringify(content ?? null)}` }] };
    });
    own.registerTool('can', { description: 'Tells whether it may ask.' }, () => ({
      content: [{ type: 'text', text: String(own.server.getClientCapabilities()?.elicitation !== undefined) }],
    }));
  });
  cleanUp.push(() => served[Symbol.asyncDispose]());
  return served.url;
}

function hosted(url: string, options: Partial<HostOptions> = {}, own: object = {}) {
  const toolset = mcpToolset({ url, name: 'foreign', ...own });
  cleanUp.push(() => toolset.close());
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    toolProviders: [toolset],
    store: new InMemorySessionService(),
    policy: allowAll(),
    userId: 'eve',
    ...options,
  });
  cleanUp.push(() => host.close());
  return host;
}

/** The first question that anybody who watches is shown. */
async function firstOf(host: ReturnType<typeof hosted>): Promise<OpenApproval> {
  for await (const open of host.approvals.watch()) return open;
  throw new Error('nothing was asked');
}

const eve = { by: { id: 'eve' } };
const accept = (content: Record<string, unknown>) => ({ kind: 'elicitation', action: 'accept', content }) as const;

test('ATK-22 of what a server asks during one call without end the first hundred are questions, the rest is cancelled', async () => {
  const served = await withSessions(404, (own) => {
    own.registerTool('ask', { description: 'Asks.' }, async () => {
      const ask = () => own.server.elicitInput({ mode: 'form', message: 'Again?', requestedSchema: form });
      const actions = (await Promise.all(Array.from({ length: 130 }, ask))).map(({ action }) => action);
      const count = (wanted: string) => actions.filter((action) => action === wanted).length;
      return { content: [{ type: 'text', text: `${count('decline')} ${count('cancel')}` }] };
    });
  });
  cleanUp.push(() => served[Symbol.asyncDispose]());
  const warnings: string[] = [];
  const own = { warn: (text: string) => void warnings.push(text) };
  const host = hosted(served.url, { onElicitation: () => ({ kind: 'elicitation', action: 'decline' }) }, own);
  const session = await host.open('puppet');
  // The count is of one call: the next one begins anew.
  for (let n = 0; n < 2; n++) expect(results(await say(session, 'call ask {}')).ask).toBe('100 30');
  expect(warnings.filter((text) => /more than 100 questions/.test(text))).toHaveLength(2);
  expect(await session.pending()).toEqual([]);
});

test.each([
  ['message', 'y'.repeat(100_000), {}],
  ['form', 'Who?', { name: { type: 'string' as const, description: 'y'.repeat(100_000) } }],
])(
  'ATK3-14 a question of a server whose %s is too long reaches nobody who could answer it',
  async (_, message, properties) => {
    const served = await withSessions(404, (own) => {
      own.registerTool('ask', { description: 'Asks.' }, async () => {
        const requestedSchema = { type: 'object' as const, properties };
        const long = await own.server.elicitInput({ mode: 'form', message, requestedSchema });
        const short = await own.server.elicitInput({ mode: 'form', message: 'And now?', requestedSchema: form });
        return { content: [{ type: 'text', text: `${long.action} ${short.action}` }] };
      });
    });
    cleanUp.push(() => served[Symbol.asyncDispose]());
    const asked: string[] = [];
    const warnings: string[] = [];
    // Whoever asks by themselves is asked no more than a host is.
    const host = hosted(
      served.url,
      {},
      {
        warn: (text: string) => void warnings.push(text),
        onElicitation: (question: { message: string }) => {
          asked.push(question.message);
          return { action: 'decline' };
        },
      },
    );
    expect(results(await say(await host.open('puppet'), 'call ask {}')).ask).toBe('cancel decline');
    expect(asked).toEqual(['And now?']);
    expect(warnings.join()).toContain('may have 100000');
  },
);

test.each(['1.x', '2.x'] as const)(
  'IOP-S8 what a server of %s asks in the midst of a call is a question of the run: in approvals, answered elsewhere, in the log',
  async (line) => {
    const host = hosted(await server(line));
    const session = await host.open('puppet');
    const asked = firstOf(host);
    const run = say(session, 'call ask {}');
    const { request } = await asked;
    expect(request).toMatchObject({
      kind: 'elicitation',
      elicitation: 'clarification',
      message: 'foreign asks: Who are you?',
      requestedSchema: { properties: { name: { type: 'string' } }, required: ['name'] },
      context: { server: 'foreign' },
    });
    expect((await host.approvals.list()).map((open) => open.request.requestId)).toEqual([request.requestId]);
    expect((await session.pending()).map(({ requestId }) => requestId)).toContain(request.requestId);
    const decide = (content: Record<string, unknown>) => host.approvals.decide(request.requestId, accept(content), eve);
    // What does not fit leaves it open.
    expect(await refusal(decide({ name: 5 }))).toMatchObject({ code: 'E_WRONG_ANSWER' });
    expect(await decide({ name: 'Anna' })).toMatchObject({ status: 'settled' });
    const events = await run;
    expect(results(events).ask).toMatch(/^accept \{"name":"Anna"/);
    expect(ofType(events, 'elicitation_request')).toMatchObject([
      { requestId: request.requestId, kind: 'clarification' },
    ]);
    const log: AgentEvent[] = [];
    for await (const event of session.events()) log.push(event);
    expect(ofType(log, 'elicitation_response')).toMatchObject([
      { requestId: request.requestId, action: 'accept', content: { name: 'Anna' }, by: 'eve' },
    ]);
    expect(await host.approvals.list()).toEqual([]);
    expect(await refusal(decide({ name: 'Bert' }))).toMatchObject({ status: 'FAILED_PRECONDITION' });
  },
);

test('IOP-S8 it is asked of the host’s own people too, and a no reaches the server', async () => {
  const asked: unknown[] = [];
  const host = hosted(await server('1.x'), {
    onElicitation: ({ message }) => {
      asked.push(message);
      return { kind: 'elicitation', action: 'decline' };
    },
  });
  expect(results(await say(await host.open('puppet'), 'call ask {}'))).toEqual({ ask: 'decline null' });
  expect(asked).toEqual(['foreign asks: Who are you?']);
});

test('IOP-S8 sibling: it is found and answered over a connection, by whose session it is', async () => {
  const host = hosted(await server('2.x'));
  const served = await serving(host);
  const here = await client(served, 'eve');
  const there = await client(served, 'eve');
  const questions = there.approvals.watch();
  const asked = questions.next();
  // The watch is on once its answer is here; this one is behind it.
  expect(await there.approvals.list()).toEqual([]);
  const session = await here.open('puppet', { sessionId: 's', create: true });
  const run = all(session.stream('call ask {}'));
  const { requestId = '', message } = (await asked).value?.request ?? {};
  expect(message).toBe('foreign asks: Who are you?');
  const mallory = await client(served, 'mallory');
  expect(['E_NOT_APPROVER', 'E_UNKNOWN_REQUEST']).toContain(
    (await refusal(mallory.approvals.decide(requestId, accept({ name: 'M' })))).code,
  );
  expect(await there.approvals.decide(requestId, accept({ name: 'Eve' }))).toMatchObject({ status: 'settled' });
  expect(results(await run)).toEqual({ ask: 'accept {"name":"Eve"}' });
  await questions.return?.();
});

test('IOP-S8 two calls that ask at once have two questions, and each its own answer', async () => {
  const host = hosted(await server('2.x'));
  const run = say(await host.open('puppet'), 'call ask {"n": 1} ask {"n": 2}');
  const open = async () => (await host.approvals.list()).map(({ request }) => request.requestId);
  await expect.poll(async () => (await open()).length).toBe(2);
  for (const [n, requestId] of (await open()).entries()) {
    await host.approvals.decide(requestId, accept({ name: `person ${n}` }), eve);
  }
  const answers = ofType(await run, 'tool_response').map(({ content }) => textOfContent(content));
  expect(answers.sort()).toEqual(['accept {"name":"person 0"}', 'accept {"name":"person 1"}']);
});

test.each<[string, Partial<HostOptions>, object]>([
  ['where nobody can be asked', { interactive: false }, {}],
  ['in a mode that asks nobody', { permissionMode: 'dont_ask' }, {}],
  ['once nobody has answered for as long as is waited', {}, { answerMs: 50 }],
])('IOP-S8 %s the server is told that it is cancelled', async (_, options, own) => {
  const host = hosted(await server('1.x'), options, own);
  expect(results(await say(await host.open('puppet'), 'call ask {}'))).toEqual({ ask: 'cancel null' });
  expect(await host.approvals.list()).toEqual([]);
});

test.each([
  [{}, 'true'],
  [{ onElicitation: false }, 'false'],
])('IOP-S8 with %j a server is told that somebody can be asked: %s', async (own, told) => {
  const host = hosted(await server('1.x'), {}, own);
  expect(results(await say(await host.open('puppet'), 'call can {}'))).toEqual({ can: told });
});

test('IOP-S8 an abort takes the question back', async () => {
  const host = hosted(await server('1.x'));
  const session = await host.open('puppet');
  const asked = firstOf(host);
  const run = say(session, 'call ask {}');
  await asked;
  await session.abort({ reason: 'enough' });
  await run;
  expect(await host.approvals.list()).toEqual([]);
});

test('IOP-S8 sibling: any tool of a host can ask while it runs, more than once', async () => {
  const order = defineTool({
    name: 'order',
    description: 'Orders.',
    inputSchema: { type: 'object' },
    async execute(_, context) {
      const size = await context.elicit?.({ message: 'What size?', requestedSchema: form });
      const sure = await context.elicit?.({ message: 'Sure?' });
      return `${JSON.stringify(size)} ${JSON.stringify(sure)}`;
    },
  });
  const asked: unknown[] = [];
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    tools: [order],
    policy: allowAll(),
    onElicitation: ({ requestId, elicitation }) => {
      asked.push([requestId.split('#')[1], elicitation]);
      return elicitation === 'clarification' ? accept({ name: 'L' }) : { kind: 'deny' };
    },
  });
  cleanUp.push(() => host.close());
  expect(results(await say(await host.open('puppet'), 'call order {}'))).toEqual({
    order: '{"action":"accept","content":{"name":"L","age":7}} {"action":"decline"}',
  });
  expect(asked).toEqual([
    ['asked', 'clarification'],
    ['asked.1', 'user_approval'],
  ]);
});

test('IOP-S8 sibling: while somebody is asked a call is not given up, and afterwards its time begins anew', () => {
  vi.useFakeTimers();
  try {
    const idle = new Idle(1000);
    vi.advanceTimersByTime(999);
    idle.hold();
    idle.hold();
    idle.release();
    idle.touch();
    vi.advanceTimersByTime(60_000);
    expect(idle.signal.aborted).toBe(false);
    idle.release();
    vi.advanceTimersByTime(999);
    idle.touch();
    vi.advanceTimersByTime(999);
    expect(idle.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(idle.signal.aborted).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('IOP-S8 sibling: a call that is over while somebody is still asked leaves no timer behind', () => {
  vi.useFakeTimers();
  try {
    const idle = new Idle(1000);
    idle.hold();
    idle.end();
    idle.release();
    idle.touch();
    expect([vi.getTimerCount(), idle.signal.aborted]).toEqual([0, false]);
  } finally {
    vi.useRealTimers();
  }
});

test('a host’s time-out is not that of a server’s tool, which is given up once it shows no sign of life', async () => {
  const url = await server('2.x');
  const host = hosted(url, { toolTimeoutMs: 1 }, { onElicitation: false });
  expect(results(await say(await host.open('puppet'), 'call slow {}'))).toEqual({ slow: 'slowly done' });
  const silent = hosted(url, {}, { onElicitation: false, idleMs: 50 });
  const [hung] = ofType(await say(await silent.open('puppet'), 'call hang {}'), 'tool_response');
  expect(hung).toMatchObject({ isError: true, errorType: 'timeout' });
});
