import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import { defineTool } from '../../src/contracts/index.ts';
import { InMemoryCredentialService, InMemorySessionService, LlmAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const SECRET = 'tok-very-secret';

function setting() {
  const seen: unknown[] = [];
  const fetchMail = defineTool({
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
    fromAgent(agent(model), { sessions, services }).open({ sessionId, create: true }, { app: 'app' });
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
