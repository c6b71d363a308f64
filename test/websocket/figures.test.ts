import { describe, expect, test } from 'vitest';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import { CoxswainError, fromAgent, InMemorySessionService } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { bot, hostOf, notingTool, policyOf, refusal, slowTool } from '../host/kit.ts';
import { all, client, metric, serving } from './kit.ts';

/** A store that can be away. */
class Store extends InMemorySessionService {
  isAway = false;
  looks = 0;
  hangs: Promise<void> | undefined;

  override async list(...given: Parameters<InMemorySessionService['list']>) {
    this.looks++;
    await this.hangs;
    if (this.isAway) throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'the database is away');
    return super.list(...given);
  }
}

const readyz = async ({ url }: { url: string }) =>
  (await fetch(url.replace('ws', 'http').replace('/v1', '/readyz'))).status;

test('a connection over which nobody asks is kept for longer than a proxy keeps its own, 60 seconds', async () => {
  const server = await serving(hostOf(bot(['hi'])).host);
  const { headers } = await fetch(server.url.replace('ws', 'http').replace('/v1', '/readyz'));
  expect(headers.get('keep-alive')).toBe('timeout=65');
});

describe('SOAK-11 /readyz', () => {
  test('asks the store, and says once on the way when it is away', async () => {
    const store = new Store();
    const { host } = hostOf(bot(['hi']), { store });
    const warnings: string[] = [];
    const server = await serving(host, { warn: (message) => warnings.push(message) });
    expect(await readyz(server)).toBe(200);
    store.isAway = true;
    await expect.poll(() => readyz(server)).toBe(503);
    const looks = store.looks;
    await expect.poll(() => readyz(server).then(() => store.looks)).toBeGreaterThan(looks);
    expect(warnings).toEqual(['the store does not answer; /readyz says so until it does']);
    store.isAway = false;
    await expect.poll(() => readyz(server)).toBe(200);
  });

  test('many who ask at once are one look at the store', async () => {
    const store = new Store();
    const { host } = hostOf(bot(['hi']), { store });
    const server = await serving(host);
    const hanging = Promise.withResolvers<void>();
    store.hangs = hanging.promise;
    const asked = Array.from({ length: 20 }, () => readyz(server));
    await expect.poll(() => store.looks).toBe(1);
    hanging.resolve();
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
    expect(store.looks).toBe(1);
  });

  test('of bare executors, with a store and without', async () => {
    const store = new Store();
    const source = fromAgent(bot(['hi']));
    const { open, descriptor } = source;
    for (const agents of [[source], [{ descriptor, open }]]) {
      const server = await serveExecutor({ app: 'x', agents, store: store });
      expect(await readyz(server)).toBe(200);
      await server.close();
    }
    store.isAway = true;
    const server = await serveExecutor({ app: 'x', agents: [source], store: store }, { warn() {} });
    expect(await readyz(server)).toBe(503);
    await server.close();
  });
});

test('/health says in one answer whether the process lives, is ready, and drains', async () => {
  const store = new Store();
  const slow = slowTool('slow');
  const { host } = hostOf(bot([{ calls: [['slow']] }, 'done']), { store, tools: [slow.tool], policy: policyOf({}) });
  const server = await serving(host, { warn: () => {} });
  const health = async () => {
    const answer = await fetch(server.url.replace('ws', 'http').replace('/v1', '/health'));
    return [answer.status, await answer.json()];
  };
  expect(await health()).toEqual([200, { live: true, ready: true, draining: false, status: 'ready' }]);
  store.isAway = true;
  const away = [503, { live: true, ready: false, draining: false, status: 'store_unavailable' }];
  await expect.poll(health).toEqual(away);
  expect(await metric(server, 'coxswain_store_ready')).toBe(0);
  store.isAway = false;
  await expect.poll(() => metric(server, 'coxswain_store_ready')).toBe(1);
  const session = await (await client(server)).open('bot');
  const running = all(session.stream('go'));
  await slow.started;
  const closed = server.close({ deadlineMs: 60_000 });
  expect(await health()).toEqual([503, { live: true, ready: false, draining: true, status: 'draining' }]);
  expect(await metric(server, 'coxswain_draining')).toBe(1);
  slow.finish('ok');
  await running;
  await closed;
});

test('/metrics gives each figure its type, and what a program adds', async () => {
  const { host } = hostOf(bot(['hi']));
  const server = await serving(host, { figures: async () => ({ beds: 3, guests_total: 9 }) });
  const text = await (await fetch(server.url.replace('ws', 'http').replace('/v1', '/metrics'))).text();
  const lines = text.trim().split('\n');
  const [types, values] = [true, false].map((isType) => lines.filter((line) => line.startsWith('#') === isType));
  expect(types?.map((line) => line.split(' ')[2])).toEqual(values?.map((line) => line.split(' ')[0]));
  expect(lines.slice(-4)).toEqual([
    '# TYPE coxswain_beds gauge',
    'coxswain_beds 3',
    '# TYPE coxswain_guests_total counter',
    'coxswain_guests_total 9',
  ]);
});

test('SOAK-11 /metrics tells what is open, runs, waits and idles, and which turns were begun, failed and refused', async () => {
  const slow = slowTool('slow');
  const pay = notingTool('pay');
  const script: Script[] = [{ calls: [['slow']] }, 'done', { calls: [['pay']] }, { errorCode: 'broken' }];
  const { host } = hostOf(bot(script), { tools: [slow.tool, pay.tool], policy: policyOf({ pay: 'ask' }) });
  const server = await serving(host);
  const anna = await client(server);
  const figures = async () => {
    const names = ['open', 'idle', 'running', 'waiting', 'closing'].map((name) => `sessions_${name}`);
    const turns = ['begun', 'failed', 'refused'].map((name) => `turns_${name}_total`);
    return Promise.all([...names, ...turns].map((name) => metric(server, `coxswain_${name}`)));
  };
  expect(await figures()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  const session = await anna.open('bot');
  const running = all(session.stream('go'));
  await slow.started;
  expect(await figures()).toEqual([1, 0, 1, 0, 0, 1, 0, 0]);
  slow.finish('ok');
  await running;
  await expect.poll(figures).toEqual([1, 0, 0, 0, 0, 1, 0, 0]);
  expect((await refusal(session.stream({ kind: 'continue' }).next())).code).toBe('E_TURN_COMPLETED');
  expect(await figures()).toEqual([1, 0, 0, 0, 0, 1, 0, 1]);
  await all(session.stream('pay'));
  await expect.poll(figures).toEqual([1, 0, 0, 1, 0, 2, 0, 1]);
  await all(session.stream('else'));
  await expect.poll(figures).toEqual([1, 0, 0, 0, 0, 3, 1, 1]);
  await session[Symbol.asyncDispose]();
  await expect.poll(figures).toEqual([1, 1, 0, 0, 0, 3, 1, 1]);
});
