import { connect as dial } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { natsBus, postgresBus } from '../../src/adapters/nodes/index.ts';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import { newId } from '../../src/base/index.ts';
import type { AgentEvent, Bus } from '../../src/contracts/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { postgresServer, postgresUrl } from '../adapters/databases.ts';
import { door } from '../host/kit.ts';
import { busSuite, patience } from '../suites/bus.ts';
import { client, serving } from '../websocket/kit.ts';

const NATS = process.env.COXSWAIN_TEST_NATS ?? 'nats://127.0.0.1:4222';
const isNats = await new Promise<boolean>((resolve) => {
  const { hostname, port } = new URL(NATS);
  const socket = dial(Number(port), hostname, () => {
    socket.destroy();
    resolve(true);
  }).on('error', () => resolve(false));
});

describe.skipIf(postgresServer.skip !== undefined)('PostgreSQL', () => {
  // First of all: a process is warned once.
  test('SOAK-9 what is too much for one message goes in several, one after the other on its connection', async () => {
    const app = `shop-${newId()}`;
    const [bus, other] = [await postgresBus(postgresUrl, { app }), await postgresBus(postgresUrl, { app })];
    const warned: string[] = [];
    const warn = ({ name, message }: Error) => warned.push(`${name}: ${message}`);
    process.on('warning', warn);
    onTestFinished(async () => {
      process.off('warning', warn);
      await Promise.all([bus.close(), other.close()]);
    });
    const heard: unknown[] = [];
    other.subscribe(
      't',
      (message) => heard.push(message),
      () => {},
    );
    const messages = Array.from({ length: 12 }, (_, n) => `${n} ${'x'.repeat(3000)}`);
    for (const message of messages) bus.publish('t', message);
    await vi.waitFor(() => expect(heard).toEqual(messages), patience);
    expect(warned).toEqual([]);
  });

  busSuite('postgres', async () => {
    const app = `shop-${newId()}`;
    return { bus: await postgresBus(postgresUrl, { app }), other: await postgresBus(postgresUrl, { app }) };
  });

  test('PB-01 a connection that is cut is made anew, and who listens is told that something may be lost', async () => {
    const app = `shop-${newId()}`;
    const said: string[] = [];
    const bus = await postgresBus(postgresUrl, { app, warn: (message) => said.push(message) });
    const admin = new pg.Client({ connectionString: postgresUrl });
    await admin.connect();
    onTestFinished(async () => {
      await bus.close();
      await admin.end();
    });
    const missed = door();
    const heard: string[] = [];
    bus.subscribe('t', (message) => heard.push(message), missed.open);
    const [row] = (
      await admin.query(
        `SELECT pid, query FROM pg_stat_activity WHERE query LIKE 'LISTEN "coxswain_bus_%' ORDER BY backend_start DESC LIMIT 1`,
      )
    ).rows;
    await admin.query('SELECT pg_terminate_backend($1)', [row.pid]);
    await missed.opened;
    expect(said).toHaveLength(1);
    await expect
      .poll(() => {
        bus.publish('t', 'again');
        return heard.includes('again');
      }, patience)
      .toBe(true);
  });
});

describe.skipIf(!isNats)('NATS', () => {
  busSuite('nats', async () => {
    const app = `shop-${newId()}`;
    return { bus: await natsBus(NATS, { app }), other: await natsBus(NATS, { app }) };
  });
});

const buses: [string, string | undefined, (app: string) => Promise<Bus>][] = [
  ['postgres', postgresServer.skip, (app) => postgresBus(postgresUrl, { app })],
  ['nats', isNats ? undefined : 'no server', (app) => natsBus(NATS, { app })],
];

describe.skipIf(postgresServer.skip !== undefined)('two nodes over one PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgresServer.make();
    await (await database.open()).close();
  });
  afterAll(() => database.drop());

  /** A node whose looks into the store come too late for any test: what it hears it hears by the bus. */
  const node = async (bus: Bus | undefined, model: ScriptedModel, followPollMs = 3_600_000) => {
    const store = await openSql(database.url as string, { maxConnections: 4 });
    onTestFinished(() => store.close());
    const agents = [new LlmAgent({ name: 'clerk', model })];
    return createHost({ app: 'shop', agents, store, followPollMs, ...(bus ? { bus } : {}) });
  };

  for (const [name, skip, open] of buses) {
    test.skipIf(skip !== undefined)(
      `BN-01 by ${name} a client of one node sees what another one runs: its text before it is stored, then its events`,
      async () => {
        const app = `shop-${newId()}`;
        const [one, two] = [await open(app), await open(app)];
        onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
        const gate = door();
        const slow = new ScriptedModel([{ deltas: ['Good ', 'day, ', 'Ann.'] }]);
        const generate = slow.generate.bind(slow);
        slow.generate = async function* (...given) {
          let shown = 0;
          for await (const response of generate(...given)) {
            if (++shown === 3) await gate.opened;
            yield response;
          }
        };
        const runs = await node(one, slow);
        const shows = await node(two, new ScriptedModel([]));
        const server = await serving(shows);
        const remote = await client(server, 'ann');
        await using session = await runs.open('clerk', { userId: 'ann', sessionId: `b-${newId()}`, create: true });
        const watching = await remote.open('clerk', { sessionId: session.id, control: false });
        const seen: AgentEvent[] = [];
        const partial = () =>
          seen
            .map((event) =>
              event.type === 'message' && event.partial
                ? event.content.map((part) => ('text' in part ? part.text : '')).join('')
                : '',
            )
            .join('');
        const over = (async () => {
          for await (const event of watching.watch()) {
            seen.push(event);
            if (event.type === 'stream_end') return;
          }
        })();
        const running = (async () => {
          for await (const _ of session.stream('Hello.'));
        })();
        await expect.poll(partial, patience).toBe('Good day, ');
        gate.open();
        await Promise.all([over, running]);
        const durable = seen.filter(({ cursor }) => cursor !== undefined);
        expect(durable.map(({ type }) => type)).toEqual(['message', 'message', 'stream_end']);
        await runs.close();
      },
    );
  }

  test('BN-02 without a bus, or with one that is gone, the events come by looks', async () => {
    const bus: Bus = { publish: () => {}, subscribe: () => () => {}, close: async () => {} };
    const runs = await node(bus, new ScriptedModel(['Good day.']));
    const shows = await node(bus, new ScriptedModel([]), 50);
    await using session = await runs.open('clerk', { userId: 'ann', sessionId: `b-${newId()}`, create: true });
    await using watching = await shows.open('clerk', { userId: 'ann', sessionId: session.id });
    const types: string[] = [];
    const over = (async () => {
      for await (const { type } of watching.events({ live: true })) {
        types.push(type);
        if (type === 'stream_end') return;
      }
    })();
    for await (const _ of session.stream('Hello.'));
    await over;
    expect(types).toEqual(['message', 'message', 'stream_end']);
  });
});
