import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { AgentCallContext, AgentSession, SessionInput } from '../../src/contracts/index.ts';
import { defineAgentTool } from '../../src/contracts/index.ts';
import type { CredentialService, LlmAgentOptions, SessionService, ToolContext } from '../../src/runtime/index.ts';
import { agentTool, InMemoryCredentialService, InMemorySessionService, LlmAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { host, key, llm, mortal, ownTool, tool } from './kit.ts';

const SECRET = 'tok-very-secret';

function setting() {
  const seen: unknown[] = [];
  const fetchMail = defineAgentTool({
    name: 'fetch_mail',
    description: 'reads mail',
    inputSchema: { type: 'object' },
    async execute(_, context) {
      const credential = await context.getAuthResponse('mail');
      if (credential === undefined)
        return context.requestCredential({ key: 'mail', scheme: 'oauth2', scopes: ['read'] });
      seen.push(credential);
      return { mails: 2 };
    },
  });
  const sessions = new InMemorySessionService();
  const services = { credentials: new InMemoryCredentialService() };
  const agent = (model: ScriptedModel) => new LlmAgent({ name: 'a', model, tools: [fetchMail] });
  const open = (model: ScriptedModel, sessionId = 's') =>
    fromAgent(agent(model), { store: sessions, services }).open({ sessionId, create: true }, { app: 'app' });
  return { seen, sessions, open };
}

test('S3-31 S3-32 a tool asks for a credential, gets it after a restart, and the log never has it', async () => {
  const { seen, sessions, open } = setting();
  const first = await open(new ScriptedModel([{ calls: [['fetch_mail']] }]));
  const paused = await run(first, 'mail?');
  expect(paused.reason).toBe('input_required');
  expect(paused.pending).toMatchObject([
    { kind: 'elicitation', elicitation: 'auth_required', context: { key: 'mail', scheme: 'oauth2', scopes: ['read'] } },
  ]);
  const { requestId } = paused.pending[0] as { requestId: string };
  const second = await open(new ScriptedModel(['two mails']));
  await expect(second.respond(requestId, { kind: 'elicitation', action: 'accept' })).rejects.toMatchObject({
    code: 'E_WRONG_ANSWER',
  });
  const content = { credential: { token: SECRET } };
  // A yes to a question about a call is none to this one: what comes with it would be stored.
  await expect(second.respond(requestId, { kind: 'approve', args: content })).rejects.toMatchObject({
    code: 'E_WRONG_ANSWER',
    message: expect.not.stringContaining(SECRET),
  });
  await second.respond(requestId, { kind: 'elicitation', action: 'accept', content });
  const done = await run(second, { kind: 'continue' });
  expect(done).toMatchObject({ reason: 'completed', text: 'two mails' });
  expect(seen).toEqual([{ token: SECRET }]);
  const stored = await sessions.get({ app: 'app', userId: 'local', id: 's' });
  const asked = stored?.events.find((event) => event.actions.requestedAuthConfigs);
  expect(Object.values(asked?.actions.requestedAuthConfigs ?? {})).toMatchObject([{ key: 'mail' }]);
  expect(JSON.stringify(stored)).not.toContain(SECRET);
});

test('S3-31 a declined credential: the tool does not run again, the model is told', async () => {
  const { seen, open } = setting();
  const model = new ScriptedModel([{ calls: [['fetch_mail']] }, 'then not']);
  const session = await open(model, 'other');
  const paused = await run(session, 'mail?');
  const { requestId } = paused.pending[0] as { requestId: string };
  const input = { kind: 'elicitation_response', requestId, response: { action: 'decline' } } as const;
  expect(await run(session, input)).toMatchObject({ reason: 'completed', denied: ['fetch_mail'] });
  expect(seen).toEqual([]);
});

/** An agent whose `mail` tool needs a credential and does with it what a test says. */
function mailing(options: {
  credentials?: CredentialService;
  config?: object;
  use?: (credential: unknown, context: AgentCallContext) => unknown;
  agent?: Partial<LlmAgentOptions>;
  sessions?: SessionService;
  calls?: number;
}) {
  const { credentials = new InMemoryCredentialService(), config = { key: 'mail' }, use = () => 'sent' } = options;
  const mail = ownTool('mail', async (_, context) => {
    const credential = await context.getAuthResponse('mail');
    if (credential === undefined) return context.requestCredential(config);
    return use(credential, context as AgentCallContext);
  });
  const { sessions = new InMemorySessionService(), calls = 1 } = options;
  const warnings: unknown[] = [];
  const script = { calls: Array.from({ length: calls }, () => ['mail'] as const) };
  const agent = llm('a', new ScriptedModel([script, 'done']), { tools: [mail], ...options.agent });
  const source = fromAgent(agent, {
    store: sessions,
    services: { credentials },
    warn: (...told) => void warnings.push(...told.map(String)),
  });
  return {
    credentials,
    warnings,
    open: () => source.open({ sessionId: 's', create: true }, host),
    kept: () => credentials.load({ app: key.app, userId: key.userId }, 'mail'),
    log: async () => JSON.stringify(await sessions.get({ app: key.app, userId: key.userId, id: 's' })),
  };
}

const accept = (requestId: string, credential: unknown): SessionInput => ({
  kind: 'elicitation_response',
  requestId,
  response: { action: 'accept', content: { credential } },
});

async function paused(session: AgentSession): Promise<string> {
  return String((await run(session, 'go')).pending[0]?.requestId);
}

test('S3-32 inputs that are refused keep no credential', async () => {
  const { open, kept } = mailing({});
  const session = await open();
  const requestId = await paused(session);
  const result = { kind: 'tool_result' as const, requestId: 'unknown', result: { content: [] } };
  await expect(run(session, [accept(requestId, SECRET), result])).rejects.toMatchObject({ code: 'E_UNKNOWN_REQUEST' });
  expect(await kept()).toBeUndefined();
});

test('MUT-R5 answers that cannot be stored leave the credential that was there before them', async () => {
  let isAway = false;
  const store = new InMemorySessionService();
  const sessions = mortal(store, () => isAway);
  const { open, kept, credentials } = mailing({ sessions, calls: 2 });
  const session = await open();
  const { pending } = await run(session, 'go');
  await credentials.save({ app: key.app, userId: key.userId }, 'mail', 'from before');
  isAway = true;
  const inputs = pending.map(({ requestId }, n) => accept(requestId, `given ${n}`));
  expect(inputs).toHaveLength(2);
  await expect(run(session, inputs)).rejects.toThrow('the process is gone');
  expect(await kept()).toBe('from before');
});

test('S3-32 of two who answer at once the one who comes second changes nothing', async () => {
  const { open, kept } = mailing({});
  const session = await open();
  const requestId = await paused(session);
  const answers = await Promise.all([
    session.respond(requestId, { kind: 'elicitation', action: 'decline' }),
    session.respond(requestId, { kind: 'elicitation', action: 'accept', content: { credential: SECRET } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['settled', 'already_settled']);
  expect(await kept()).toBeUndefined();
});

test('S3-31 what a tool asks with is stored: a secret in it is refused', async () => {
  for (const config of [
    { key: 'mail', rawAuthCredential: { oauth2: { clientSecret: SECRET } } },
    { key: 'mail', url: `https://me:${SECRET}@mail.example` },
    { key: { secret: SECRET } },
  ]) {
    const { open, log } = mailing({ config });
    expect((await run(await open(), 'go')).reason).toBe('completed');
    expect(await log()).toContain('what is asked with is stored and shown');
    expect(await log()).not.toContain(SECRET);
  }
});

test.each<[string, (credential: { token: string }, context: AgentCallContext) => unknown]>([
  [
    'throws',
    ({ token }) => {
      throw new Error(`401 for Bearer ${token}`);
    },
  ],
  ['returns it', (credential) => ({ credential, header: `Bearer ${credential.token}` })],
  ['returns it in a name', ({ token }) => ({ [token]: 1 })],
  ['shows it', ({ token }, { progress }) => progress({ content: [{ type: 'text', text: `trying ${token}` }] })],
  ['calls its failure so', ({ token }) => ({ content: [], isError: true, errorType: token })],
  ['displays it', ({ token }) => ({ content: [], display: [{ type: 'text', text: token }] })],
  ['asks with it', ({ token }, context) => context.requestConfirmation({ hint: `Use ${token}?`, payload: { token } })],
  ['quotes it as JSON', ({ token }) => JSON.stringify({ token })],
  ['quotes it in an address', ({ token }) => `https://mail.example/?key=${encodeURIComponent(token)}`],
])('S3-32 F48 a tool that %s: the secret is in no log, event, span or warning', async (_, use) => {
  const credential = { username: 'ann@example.org', token: 'tok "secret"/of ann' };
  const { open, log, warnings } = mailing({ use: (given, context) => use(given as never, context) });
  const session = await open();
  const requestId = await paused(session);
  const spoken: unknown[] = [];
  const listener = (message: unknown) => spoken.push(message);
  const points = ['start', 'end', 'error'].map((point) => `tracing:coxswain:tool:${point}`);
  for (const point of points) subscribe(point, listener);
  await run(session, accept(requestId, credential), { onEvent: (event) => spoken.push(event) });
  for (const point of points) unsubscribe(point, listener);
  const all = [await log(), JSON.stringify(spoken), JSON.stringify(warnings)].join();
  for (const form of [credential.token, encodeURIComponent(credential.token), 'secret'])
    expect(all).not.toContain(form);
});

test('S3-32 whose credential it is may be told', async () => {
  const { open, log } = mailing({ use: () => 'sent as ann@example.org' });
  const session = await open();
  await run(session, accept(await paused(session), { username: 'ann@example.org', token: SECRET }));
  expect(await log()).toContain('sent as ann@example.org');
});

test('S3-32 a credential service that fails: a code, and nothing of what it says', async () => {
  const credentials: CredentialService = {
    load: async () => undefined,
    delete: async () => {},
    save: (_, __, credential) => Promise.reject(new TypeError(`cannot write ${JSON.stringify(credential)}`)),
  };
  const { open, log } = mailing({ credentials });
  const session = await open();
  const requestId = await paused(session);
  const refused = expect.objectContaining({
    code: 'E_CREDENTIALS',
    message: expect.stringMatching(/^(?!.*secret-token).*failed \(TypeError\)/),
  });
  const content = { credential: 'secret-token' };
  await expect(session.respond(requestId, { kind: 'elicitation', action: 'accept', content })).rejects.toEqual(refused);
  await expect(run(session, accept(requestId, 'secret-token'))).rejects.toEqual(refused);
  expect((await session.pending()).map((request) => request.requestId)).toEqual([requestId]);
  expect(await log()).not.toContain('secret-token');
});

test('S3-31 a wrong or expired credential is asked for again, until it is right', async () => {
  const { open } = mailing({
    use: (credential, context) =>
      credential === 'right-one' ? 'sent' : context.requestCredential({ key: 'mail', hint: `${credential} no more` }),
  });
  const session = await open();
  const asked = [await paused(session)];
  for (const credential of ['wrong-one', 'old-one']) {
    const again = await run(session, accept(String(asked.at(-1)), credential));
    asked.push(String(again.pending[0]?.requestId));
    expect(again.pending[0]).toMatchObject({ elicitation: 'auth_required', message: '*** no more' });
  }
  expect(new Set(asked).size).toBe(3);
  expect((await run(session, accept(String(asked.at(-1)), 'right-one'))).text).toBe('done');
});

test('S3-31 S3-54 nor can a hook behind an agent that is run as a tool ask for one: it would be asked without end', async () => {
  const model = new ScriptedModel({
    byAgent: { a: [{ calls: [['expert', { request: 'go' }]] }, 'done'], expert: ['x'] },
  });
  const warnings: string[] = [];
  const agent = llm('a', model, {
    tools: [agentTool(llm('expert', model))],
    afterTool: (context) => context.requestCredential({ key: 'mail' }) as never,
  });
  const session = await fromAgent(agent, { warn: (message) => void warnings.push(message) }).open({}, host);
  expect(await run(session, 'go')).toMatchObject({ reason: 'completed', text: 'done' });
  expect(warnings).toEqual(['an after_tool hook failed on expert']);
});

test.each(['beforeTool', 'afterTool'] as const)(
  'S3-31 in a %s hook a question for a credential is refused: the call would run twice',
  async (point) => {
    let runs = 0;
    const warnings: string[] = [];
    const agent = llm('a', new ScriptedModel([{ calls: [['mail']] }, 'done']), {
      tools: [tool('mail', () => ++runs)],
      [point]: (context: ToolContext) => context.requestCredential({ key: 'mail' }),
    });
    const session = await fromAgent(agent, { warn: (message) => void warnings.push(message) }).open({}, host);
    const results: unknown[] = [];
    await run(session, 'go', { onEvent: (event) => event.type === 'tool_response' && results.push(event.errorType) });
    expect([runs, results]).toEqual(point === 'beforeTool' ? [0, ['denied']] : [1, [undefined]]);
    expect(warnings).toEqual(point === 'beforeTool' ? [] : ['an after_tool hook failed on mail']);
  },
);
