import { afterEach, describe, expect, test } from 'vitest';
import type { OpaPolicyOptions } from '../../src/adapters/policy/opa.ts';
import { opaPolicy } from '../../src/adapters/policy/opa.ts';
import type { PolicyRequest } from '../../src/contracts/index.ts';
import { evaluatePolicy } from '../../src/gate/index.ts';
import { bot, hostOf, notingTool, refusal, say } from '../host/kit.ts';
import { policySuite } from '../suites/policy.ts';
import type { OpaServer } from './opa-server.ts';
import { opaServer } from './opa-server.ts';

/** The team's policy, as its Rego would answer. */
function teamRule(input: Record<string, unknown>): unknown {
  const { action, args = {}, context = {} } = input as unknown as PolicyRequest;
  const reads = context.resource?.annotations?.readOnly === true;
  if (reads) return { outcome: 'allow', rule_id: 'reads' };
  if (context.permissionMode === 'plan') return { outcome: 'deny', rule_id: 'writes-in-plan' };
  switch (action) {
    case 'drop_table':
      return { outcome: 'deny', rule_id: 'no-drops', reason: 'Tables are never dropped here.' };
    case 'send_mail':
      return { outcome: 'ask', rule_id: 'mail' };
    case 'pay':
      return { outcome: 'ask', rule_id: 'payments', approvers: { roles: ['finance'], not_requester: true } };
    case 'deploy':
      return { outcome: 'ask', rule_id: 'deployments', expires_in: 60 };
    case 'transfer':
      return Number(args.amount) > 1000
        ? { outcome: 'deny', rule_id: 'large-transfers' }
        : { outcome: 'ask', rule_id: 'transfers' };
    case 'write_note':
      return !context.agentPath?.includes('intern');
    default:
      return { outcome: 'ask' };
  }
}

const manyRule = (input: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(input.calls as object).map(([key, call]) => [key, teamRule(call)]));
const rules = { 'coxswain/decision': teamRule, 'coxswain/decisions': manyRule };

for (const batchPath of [undefined, 'coxswain/decisions']) {
  policySuite(batchPath === undefined ? 'OPA' : 'OPA, batched', {
    async team() {
      const server = await opaServer(rules);
      return { policy: opaPolicy({ url: server.url, ...(batchPath ? { batchPath } : {}) }), close: server.close };
    },
    async broken(failure) {
      const server = await opaServer(rules, (response) => {
        if (failure === 'rubbish') response.end('<html>');
        return true;
      });
      if (failure === 'down') await server.close();
      const policy = opaPolicy({
        url: server.url,
        ...(batchPath ? { batchPath } : {}),
        ...(failure === 'slow' ? { timeoutMs: 50 } : {}),
      });
      return { policy, ...(failure === 'down' ? {} : { close: server.close }) };
    },
  });
}

describe('a policy server', () => {
  const servers: OpaServer[] = [];
  const open = async (...given: Parameters<typeof opaServer>) => {
    const server = await opaServer(...given);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  const answer = async (result: unknown, options: Partial<OpaPolicyOptions> = {}, request = { action: 'look' }) => {
    const server = await open({ 'coxswain/decision': () => result });
    return evaluatePolicy(opaPolicy({ url: server.url, ...options }), request);
  };

  test('is asked with the whole request, and told who asks by its token alone', async () => {
    const server = await open({ 'a/b': () => true });
    const policy = opaPolicy({ url: `${server.url}/`, path: '/a/b', token: 's3cret', headers: { 'x-team': 'blue' } });
    const request = { action: 'pay', args: { eur: 5 }, principal: { id: 'ann' }, context: { interactive: true } };
    expect(await policy.evaluate(request)).toEqual({ outcome: 'allow' });
    expect(server.seen[0]?.body).toEqual({ input: request });
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret', 'x-team': 'blue' });
  });

  test('is waited for where there is no limit', async () => {
    expect(await answer(true, { timeoutMs: Number.POSITIVE_INFINITY })).toEqual({ outcome: 'allow' });
  });

  test('what a foreign tool says of itself is told as hints', async () => {
    const server = await open(rules);
    const context = { resource: { type: 'tool', id: 'f', source: 'mcp:x', annotations: { readOnly: true } } };
    const told = async (options: object) => {
      await opaPolicy({ url: server.url, ...options }).evaluate({ action: 'f', context });
      return (server.seen.at(-1)?.body.input as PolicyRequest | undefined)?.context?.resource;
    };
    expect(await told({})).toMatchObject({ annotations: {}, hints: { readOnly: true } });
    expect(await told({ trustAnnotations: true })).toMatchObject({ annotations: { readOnly: true } });
  });

  test('parallel calls of a step go in one request, each with its own answer', async () => {
    const server = await open(rules);
    const tools = ['send_mail', 'drop_table', 'write_note'].map((name) => notingTool(name));
    const { host } = hostOf(bot([{ calls: [['send_mail'], ['drop_table'], ['write_note']] }, 'done']), {
      tools: tools.map(({ tool }) => tool),
      policy: opaPolicy({ url: server.url, batchPath: 'coxswain/decisions' }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const calls = server.seen.map(({ body }) => Object.keys((body.input as { calls: object }).calls).length);
    expect(Math.max(...calls)).toBe(3);
    expect(tools.map(({ runs }) => runs.length)).toEqual([0, 0, 1]);
    expect((await session.pending()).map(({ name }) => name)).toEqual(['send_mail']);
  });

  test('an answer that is missing from a batch denies that call, and no other', async () => {
    const server = await open({ many: () => ({ 1: true, 2: 7 }) });
    const policy = opaPolicy({ url: server.url, batchPath: 'many' });
    const outcomes = await Promise.all(
      [0, 1, 2].map(async (n) => (await policy.evaluate({ action: `t${n}` })).outcome),
    );
    expect(outcomes).toEqual(['deny', 'allow', 'deny']);
    expect(server.seen).toHaveLength(1);
  });

  test('a member that an object has twice denies, wherever it is, and names the member', async () => {
    const texts: [string, string | undefined][] = [
      ['{"result": {"outcome": "deny", "outcome": "allow"}}', 'outcome'],
      ['{"result": false, "result": true}', 'result'],
      ['{"result": {"outcome": "ask", "approvers": {"quorum": 2, "qu\\u006frum": 1}}}', 'quorum'],
      ['{"result": {"outcome": "allow", "reason": "{\\"outcome\\": 1}, \\"outcome\\":"}}', undefined],
      ['{"result": {"outcome": "allow"}, "metrics": {"outcome": 1, "x": [{"outcome": 1}, {"outcome": 2}]}}', undefined],
    ];
    for (const [text, member] of texts) {
      const server = await open({}, (response) => Boolean(response.writeHead(200).end(text)));
      const decision = await opaPolicy({ url: server.url }).evaluate({ action: 'pay' });
      expect([text, decision.outcome]).toEqual([text, member === undefined ? 'allow' : 'deny']);
      if (member !== undefined) expect(decision.reason).toContain(`has the member "${member}" twice in one object`);
    }
  });

  test('a batch that is a list, or that decides on other calls than these: all are denied', async () => {
    const batches: [unknown, RegExp][] = [
      [[true, true], /gave a list/],
      [[], /gave a list/],
      [{ 0: true, 1: true, 2: true }, /not asked about: "2"/],
      [{ 0: true, 1: true, '01': true }, /not asked about: "01"/],
      ['yes', /gave no object/],
      [null, /gave no object/],
    ];
    for (const [batch, reason] of batches) {
      const server = await open({ many: () => batch });
      const policy = opaPolicy({ url: server.url, batchPath: 'many' });
      for (const decision of await Promise.all([0, 1].map((n) => policy.evaluate({ action: `t${n}` })))) {
        expect([batch, decision]).toEqual([
          batch,
          { outcome: 'deny', reason: expect.stringMatching(reason), redact: [''] },
        ]);
      }
    }
  });

  test('a full batch is sent at once, the rest in the next', async () => {
    const server = await open({
      many: ({ calls }) => Object.fromEntries(Object.keys(calls as object).map((k) => [k, true])),
    });
    const policy = opaPolicy({ url: server.url, batchPath: 'many', maxBatch: 2 });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => policy.evaluate({ action: 't' })));
    expect(answers.every(({ outcome }) => outcome === 'allow')).toBe(true);
    expect(server.seen).toHaveLength(3);
  });

  test('whatever is no decision denies: undefined, numbers, unknown outcomes and members, malformed obligations', async () => {
    const rubbish: [unknown, RegExp][] = [
      [undefined, /undefined for this call/],
      [null, /neither true, false nor/],
      ['allow', /neither true, false nor/],
      [[true], /neither true, false nor/],
      [{ allow: true }, /unknown member "allow"/],
      [{ outcome: 'sure' }, /"outcome"/],
      [{}, /"outcome"/],
      [{ outcome: 'ask', aprovers: { roles: ['x'] } }, /unknown member "aprovers"/],
      [{ outcome: 'ask', approvers: { role: 'x' } }, /approvers has an unknown member "role"/],
      [{ outcome: 'ask', approvers: { roles: 'x' } }, /approvers\.roles/],
      [{ outcome: 'ask', approvers: 'x' }, /approvers/],
      [{ outcome: 'ask', expires_in: '60' }, /expiresIn/],
      [{ outcome: 'ask', expires_in: 1, expiresIn: 9 }, /expiresIn twice/],
      [{ outcome: 'allow', redact: '/x' }, /redact/],
      [{ outcome: 'ask', approvers: { roles: [] } }, /approvers\.roles/],
      [{ outcome: 'allow', approvers: { roles: ['x'] } }, /approvers \(they go with ask only\)/],
      [{ outcome: 'ask', expires_in: 1e13 }, /expiresIn/],
    ];
    for (const [result, reason] of rubbish) {
      expect([result, await answer(result)]).toEqual([
        result,
        { outcome: 'deny', reason: expect.stringMatching(reason), redact: [''] },
      ]);
    }
    expect(await answer(false)).toEqual({ outcome: 'deny' });
  });

  test('another status, a redirect, an answer without end or without bound: deny, and no secret in the reason', async () => {
    const other = await open({ 'coxswain/decision': () => true });
    const answers: [string, (response: import('node:http').ServerResponse) => void][] = [
      ['status 500', (response) => response.writeHead(500).end('{"result": true}')],
      ['status 401', (response) => response.writeHead(401).end('{"result": true}')],
      ['', (response) => response.writeHead(307, { location: `${other.url}/v1/data/coxswain/decision` }).end()],
      ['larger than 100 bytes', (response) => response.end(JSON.stringify({ result: true, x: 'x'.repeat(200) }))],
      ['no JSON', (response) => response.end('{"result": tru')],
      [
        '',
        (response) => {
          response.writeHead(200, { 'content-length': '99' });
          response.write('{"result": true}', () => response.destroy());
        },
      ],
      ['no object', (response) => response.end('7')],
      ['within 100 ms', (response) => response.write('{"result":')],
    ];
    for (const [reason, reply] of answers) {
      const server = await open({}, (response) => {
        reply(response);
        return true;
      });
      const options = {
        url: server.url,
        token: 's3cret',
        maxBytes: 100,
        timeoutMs: reason === 'within 100 ms' ? 100 : 5000,
      };
      const decision = await opaPolicy(options).evaluate({ action: 'look' });
      expect(decision).toEqual({ outcome: 'deny', reason: expect.stringContaining(reason), redact: [''] });
      expect(JSON.stringify(decision)).not.toContain('s3cret');
    }
    expect(other.seen).toEqual([]);
  });

  test('an abort ends the request', async () => {
    let closed = () => {};
    const over = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const controller = new AbortController();
    const server = await open({}, (response) => {
      response.on('close', closed);
      controller.abort();
      return true;
    });
    const decision = await opaPolicy({ url: server.url }).evaluate({ action: 'look' }, controller.signal);
    expect(decision.outcome).toBe('deny');
    await over;
  });

  test('an address that cannot be used is refused at once', async () => {
    for (const options of [
      { url: 'opa' },
      { url: 'file:///etc' },
      { url: 'http://u:p@opa' },
      { url: 'http://opa', path: '' },
      { url: 'http://opa', path: '../x' },
    ]) {
      const error = await refusal((async () => opaPolicy(options))());
      expect([error.code, error.message.includes('u:p')]).toEqual(['E_BAD_INPUT', false]);
    }
  });
});
