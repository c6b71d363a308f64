import { describe, expect, test } from 'vitest';
import type { ReportedRequest } from '../../src/contracts/index.ts';
import { clientQuestion } from '../../src/host/mcp/turn/url-question.ts';
import { defineAgentTool, LlmAgent, rulePolicy } from '../../src/index.ts';
import { InMemoryCredentialService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { ElicitReply, Question } from './clients.ts';
import { connect } from './clients.ts';
import { openShop } from './kit.ts';

const SECRET = 'tok-very-secret';
const PAGE = 'https://shop.example/connect?mail=1';

/** An agent whose tool needs a credential that is given on a page. */
async function mailShop(mcp = {}) {
  const seen: unknown[] = [];
  const fetchMail = defineAgentTool({
    name: 'fetch_mail',
    description: 'Reads mail.',
    inputSchema: { type: 'object' },
    async execute(_, context) {
      const credential = await context.getAuthResponse('mail');
      if (credential === undefined)
        return context.requestCredential({ key: 'mail', scheme: 'oauth2', url: PAGE, hint: 'Connect your mail.' });
      seen.push(credential);
      return { mails: 2 };
    },
  });
  const model = new ScriptedModel([{ calls: [['fetch_mail', {}]] }, 'It is done.']);
  const policy = rulePolicy([{ id: 'reads', tool: 'fetch_mail', outcome: 'allow' }]);
  const agents = [new LlmAgent({ name: 'mail', description: 'Reads mail.', model, tools: [fetchMail] })];
  const shop = await openShop({ agents, mcp, host: { credentials: new InMemoryCredentialService(), policy } });
  /** What the application's page does when its person has come back from the service. */
  const give = async () => {
    const [open] = await shop.host.approvals.list();
    const { requestId = '', sessionId = '' } = open?.request ?? {};
    const content = { credential: { token: SECRET } };
    return shop.host.approvals.decide(
      requestId,
      { kind: 'elicitation', action: 'accept', content },
      { sessionId, agent: 'mail', userId: open?.userId ?? '', by: { id: open?.userId ?? '' } },
    );
  };
  return { ...shop, seen, give };
}

const both = { form: {}, url: {} };

describe.each(['v2', 'v2-2025'] as const)('a credential that is given on a page, %s', (kind) => {
  test('the client is given the address, the call goes on once it is given, and no message has it', async () => {
    await using shop = await mailShop();
    const asked: Question[] = [];
    const onElicit = async (question: Question): Promise<ElicitReply> => {
      asked.push(question);
      await shop.give();
      return { action: 'accept' };
    };
    await using client = await connect(kind, { url: shop.url }, { onElicit, modes: both });
    const heard = client.overhear();
    const result = await client.call('mail', { prompt: 'mail?' });
    expect(result.isError ?? false).toBe(false);
    expect(JSON.stringify(result.content)).toContain('It is done.');
    expect(asked).toMatchObject([{ mode: 'url', url: PAGE, message: 'Connect your mail.' }]);
    expect(shop.seen).toEqual([{ token: SECRET }]);
    expect(heard.join()).not.toContain(SECRET);
  });

  test('consent to open the page is no credential: the call waits until it is given', async () => {
    await using shop = await mailShop();
    const onElicit = (): ElicitReply => {
      // After the answer has left.
      setTimeout(() => void shop.give(), 50);
      return { action: 'accept' };
    };
    await using client = await connect(kind, { url: shop.url }, { onElicit, modes: both });
    const result = await client.call('mail', { prompt: 'mail?' });
    expect(JSON.stringify(result.content)).toContain('It is done.');
    expect(shop.seen).toEqual([{ token: SECRET }]);
  });

  test.each(['decline', 'cancel'] as const)(
    '%s: the tool runs without it, and nobody is asked again',
    async (action) => {
      await using shop = await mailShop();
      let asked = 0;
      const onElicit = () => {
        asked++;
        return { action };
      };
      await using client = await connect(kind, { url: shop.url }, { onElicit, modes: both });
      const result = await client.call('mail', { prompt: 'mail?' });
      expect(JSON.stringify(result.content)).toContain('It is done.');
      expect([asked, shop.seen]).toEqual([1, []]);
      expect(await shop.host.approvals.list()).toEqual([]);
    },
  );

  test.each([
    ['no modes, which means forms', {}],
    ['forms alone', { form: {} }],
  ])('a client that says %s is not asked for it: a form may not have secrets', async (_, modes) => {
    await using shop = await mailShop();
    const onElicit = (): ElicitReply => ({ action: 'accept', content: { answer: 'x' } });
    await using client = await connect(kind, { url: shop.url }, { onElicit, modes });
    const result = await client.call('mail', { prompt: 'mail?' });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('credential');
    expect(shop.seen).toEqual([]);
    expect(await shop.host.approvals.list()).toHaveLength(1);
  });
});

test('2025: what is not given in time leaves its question open, for whoever comes to the page later', async () => {
  await using shop = await mailShop({ answerMs: 1 });
  const onElicit = (): ElicitReply => ({ action: 'accept' });
  await using client = await connect('v2-2025', { url: shop.url }, { onElicit, modes: both });
  const result = await client.call('mail', { prompt: 'mail?' });
  expect(result.isError).toBe(true);
  expect(shop.seen).toEqual([]);
  expect(await shop.host.approvals.list()).toHaveLength(1);
});

describe('what a client is led to', () => {
  const asks = (url: unknown, elicitation = 'auth_required') =>
    ({
      requestId: 'r',
      kind: 'elicitation',
      elicitation,
      message: 'Sign in.',
      context: { url },
      agentPath: ['a'],
    }) as unknown as ReportedRequest;
  const put = (request: ReportedRequest, modes = { form: true, url: true }) =>
    clientQuestion(request, { id: 'anna' }, modes);

  test.each(['https://a.example/x', 'http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/'])(
    '%s is an address',
    (url) => {
      expect(put(asks(url))).toMatchObject({ address: { url, message: 'Sign in.' } });
    },
  );

  test.each([
    'http://a.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://anna:secret@a.example/',
    'http://localhost.a.example/',
    'mail',
    7,
    undefined,
  ])('%s is none', (url) => {
    expect(put(asks(url))).toMatch(/credential/);
  });

  test('no other question goes by an address, and a client without forms is asked no form', () => {
    expect(put(asks('https://a.example/', 'clarification'))).toMatchObject({ form: {} });
    expect(put(asks('https://a.example/', 'clarification'), { form: false, url: true })).toBe(
      'the client cannot ask its user',
    );
  });
});
