import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource, Principal } from '../../src/index.ts';
import { defineTool, fromAgent } from '../../src/index.ts';
import { puppet } from './agents.ts';
import type { Leg } from './clients.ts';
import { connect, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const pay = { prompt: 'call pay {"amount": 5}' };
const stateKey = 'a secret of at least thirty-two bytes';
const cleanUp: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const work of cleanUp.splice(0)) work();
});

function database(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.db');
}

/** What the client brings with its second request. */
function answer(leg: Leg, decision = 'allow', action = 'accept') {
  const content = { decision };
  const entries = Object.keys(leg.inputRequests ?? {}).map((id) => [id, { action, content }] as const);
  return { requestState: leg.requestState, inputResponses: Object.fromEntries(entries) };
}

const asks = { onElicit: () => ({ action: 'cancel' }) as const };

async function park(url: string, token?: string): Promise<Leg> {
  await using client = await connect('v2', { url, ...(token === undefined ? {} : { token }) }, asks);
  const leg = await client.leg('puppet', pay);
  expect(leg.resultType).toBe('input_required');
  expect(Object.values(leg.inputRequests ?? {})[0]?.params.message).toContain('pays 5 euro');
  return leg;
}

async function bring(url: string, params: Record<string, unknown>, token?: string): Promise<Leg> {
  await using client = await connect('v2', { url, ...(token === undefined ? {} : { token }) }, asks);
  return await client.leg('puppet', pay, params);
}

describe('2026: a call that is parked with its caller', () => {
  test.each(['allow', 'deny'])('the server restarts between question and answer: %s', async (decision) => {
    const path = database();
    const runs: unknown[] = [];
    const before = openSqlite(path);
    let leg: Leg;
    {
      await using shop = await openShop({ store: before, runs, mcp: { stateKey } });
      leg = await park(shop.url);
    }
    await before.close();
    const store = openSqlite(path);
    {
      await using shop = await openShop({ store, runs, mcp: { stateKey } });
      const [open] = await shop.host.approvals.list();
      expect(open?.request.requestId).toBe(Object.keys(leg.inputRequests ?? {})[0]);
      const result = await bring(shop.url, answer(leg, decision));
      expect(runs).toEqual(decision === 'allow' ? [5] : []);
      if (decision === 'allow') expect(textOf(result)).toBe('got {"content":"paid 5"}');
      else expect(textOf(result)).toContain('Denied or cancelled: pay.');
      // The same answer again, or its opposite: what happened stays what happened.
      for (const other of ['allow', 'deny']) {
        expect(textOf(await bring(shop.url, answer(leg, other)))).toBe(textOf(result));
      }
      expect(runs).toHaveLength(decision === 'allow' ? 1 : 0);
    }
    await store.close();
  });

  test('the same yes many times at once: it runs once, and all get the result', async () => {
    await using shop = await openShop();
    const leg = await park(shop.url);
    const results = await Promise.all([1, 2, 3, 4].map(() => bring(shop.url, answer(leg))));
    expect(results.map(textOf)).toEqual(Array(4).fill('got {"content":"paid 5"}'));
    expect(shop.runs).toEqual([5]);
  });

  test('an answer after a restart without a lasting key is refused; the question stays open', async () => {
    const path = database();
    const runs: unknown[] = [];
    const before = openSqlite(path);
    let leg: Leg;
    {
      await using shop = await openShop({ store: before, runs });
      leg = await park(shop.url);
    }
    await before.close();
    const store = openSqlite(path);
    {
      await using shop = await openShop({ store, runs });
      await expect(bring(shop.url, answer(leg))).rejects.toMatchObject({ code: -32_602 });
      expect(await shop.host.approvals.list()).toHaveLength(1);
      expect(runs).toEqual([]);
    }
    await store.close();
  });

  test('F23: a state that was changed, or made up, is refused', async () => {
    await using shop = await openShop({ mcp: { stateKey } });
    const leg = await park(shop.url);
    const { requestState = '', ...rest } = answer(leg);
    const [version, body = '', mac] = requestState.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { p: { sessionId: string } };
    payload.p.sessionId = 'another';
    const forged = [version, Buffer.from(JSON.stringify(payload)).toString('base64url'), mac].join('.');
    for (const state of [forged, `${requestState}x`, 'made up', '']) {
      await expect(bring(shop.url, { ...rest, requestState: state })).rejects.toMatchObject({ code: -32_602 });
    }
    expect(shop.runs).toEqual([]);
    expect(textOf(await bring(shop.url, answer(leg)))).toBe('got {"content":"paid 5"}');
  });

  test('F38: a client that never answers: what it holds expires, nothing runs', async () => {
    await using shop = await openShop({ mcp: { answerMs: 60_000 } });
    const leg = await park(shop.url);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    await expect(bring(shop.url, answer(leg))).rejects.toMatchObject({ code: -32_602 });
    expect(shop.runs).toEqual([]);
  });

  test('an answer that is missing is asked for again, under the same id', async () => {
    await using shop = await openShop();
    const leg = await park(shop.url);
    const again = await bring(shop.url, {
      requestState: leg.requestState,
      inputResponses: { other: { action: 'accept' } },
    });
    expect(again.resultType).toBe('input_required');
    expect(Object.keys(again.inputRequests ?? {})).toEqual(Object.keys(leg.inputRequests ?? {}));
    expect(textOf(await bring(shop.url, answer(again)))).toBe('got {"content":"paid 5"}');
  });

  test('an agent that lives in memory only is held open for its answer', async () => {
    const source = fromAgent(puppet());
    const capabilities = source.descriptor.capabilities.filter((name) => name !== 'resume');
    const inMemory: AgentSource = {
      descriptor: { ...source.descriptor, capabilities },
      open(ref, context) {
        if (ref.sessionId === undefined) return source.open({ ...ref, ephemeral: true }, context);
        throw new Error('it cannot be opened again');
      },
    };
    await using shop = await openShop({ agents: [inMemory] });
    const leg = await park(shop.url);
    expect(textOf(await bring(shop.url, answer(leg)))).toBe('got {"content":"paid 5"}');
    expect(shop.runs).toEqual([5]);
  });

  test.each([
    ['anna', 'ben'],
    ['anna', 'anna'],
  ])(
    'ATK5-09 of sessions that live in memory only, each answer reaches its own call, whatever their ids (%s, %s)',
    async (one, two) => {
      const source = fromAgent(puppet());
      const capabilities = source.descriptor.capabilities.filter((name) => name !== 'resume');
      const inMemory: AgentSource = {
        descriptor: { ...source.descriptor, capabilities },
        // As callers name them, which says nothing of whose they are.
        open: ({ sessionId = '' }, context) => source.open({ sessionId, create: true, ephemeral: true }, context),
      };
      const ran: string[] = [];
      const tool = defineTool({
        name: 'pay',
        description: 'Pays an amount.',
        inputSchema: { type: 'object' },
        execute: (_, { principal }) => void ran.push(String(principal?.id)),
      });
      const authenticate = (request: Request) => ({
        id: request.headers.get('authorization')?.slice('Bearer '.length) ?? '',
      });
      await using shop = await openShop({
        agents: [inMemory],
        mcp: { authenticate, stateKey },
        host: { tools: [tool] },
      });
      const named = { ...pay, session_id: 'main' };
      const ask = async (token: string, params?: Record<string, unknown>) => {
        await using client = await connect('v2', { url: shop.url, token }, asks);
        return await client.leg('puppet', named, params);
      };
      const first = await ask(one);
      const second = await ask(two);
      expect([first.resultType, second.resultType]).toEqual(['input_required', 'input_required']);
      await ask(two, answer(second, 'deny'));
      expect(ran).toEqual([]);
      await ask(one, answer(first));
      expect(ran).toEqual([one]);
    },
  );

  test.each<[string, (name: string) => Principal]>([
    ["another principal's state", (id) => ({ id })],
    ['ATK3-01 the state of another person for whom one program asks', (onBehalfOf) => ({ id: 'gateway', onBehalfOf })],
  ])('%s is worth nothing', async (_, who) => {
    const authenticate = (request: Request) => {
      const name = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
      return name === undefined ? undefined : who(name);
    };
    await using shop = await openShop({ mcp: { authenticate, stateKey } });
    await expect(park(shop.url)).rejects.toThrow();
    const leg = await park(shop.url, 'anna');
    await expect(bring(shop.url, answer(leg), 'ben')).rejects.toMatchObject({ code: -32_602 });
    expect(shop.runs).toEqual([]);
    expect(textOf(await bring(shop.url, answer(leg), 'anna'))).toBe('got {"content":"paid 5"}');
    expect(shop.runs).toEqual([5]);
  });
});
