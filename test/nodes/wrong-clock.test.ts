import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { clockCorrection, commonTime, localTime, noteCommonTime } from '../../src/base/index.ts';
import type { PolicyDecision } from '../../src/contracts/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { mariadbServer, postgresServer } from '../adapters/databases.ts';
import { bot, hostOf, notingTool, only, policyOf, say } from '../host/kit.ts';

const TEN_MINUTES = 600_000;

function setClock(offMs: number): void {
  vi.useRealTimers();
  if (offMs === 0) return;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offMs });
}

afterEach(() => {
  setClock(0);
  noteCommonTime(Date.now(), Date.now());
});

test('NODE9-12 a clock is put right where it is wrong by more than an answer may take', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  // The answer took four seconds: theirs was read at some moment of these.
  for (const theirs of [994_100, 996_000, 1_000_000, 1_001_900]) {
    noteCommonTime(theirs, 996_000);
    expect([theirs, clockCorrection()]).toEqual([theirs, 0]);
  }
  noteCommonTime(1_600_000, 1_000_000);
  expect([commonTime(), localTime(1_600_000), clockCorrection()]).toEqual([1_600_000, 1_000_000, 600]);
  noteCommonTime(400_000, 1_000_000);
  expect([commonTime(), localTime(400_000), clockCorrection()]).toEqual([400_000, 1_000_000, -600]);
  noteCommonTime(Number.NaN, 1_000_000);
  expect(clockCorrection()).toBe(-600);
  noteCommonTime(1_000_500, 1_000_000);
  expect([commonTime(), clockCorrection()]).toEqual([1_000_000, 0]);
});

for (const server of [postgresServer, mariadbServer]) {
  describe.skipIf(server.skip)(`NODE9-12 nodes with wrong clocks on ${server.name}`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await server.make();
    });
    afterAll(() => database?.drop());

    /** A node, whose clock is wrong by so much. */
    async function node(offMs: number, expiresIn: number) {
      setClock(offMs);
      const store = await database.open();
      const { tool, runs } = notingTool('pay');
      const word: PolicyDecision = { outcome: 'ask', expiresIn };
      const made = hostOf(bot([{ calls: [['pay']] }, 'done']), {
        store,
        tools: [tool],
        policy: policyOf({ pay: word }),
      });
      const close = async () => {
        await made.host.close();
        await store.close();
      };
      return { host: made.host, runs, close };
    }

    const clocks = [TEN_MINUTES, -TEN_MINUTES, 0].flatMap((asks) =>
      [TEN_MINUTES, -TEN_MINUTES, 0].map((looks) => [asks, looks] as const),
    );
    test.each(clocks)(
      'a question of a node that is %d ms wrong is open for its time on one that is %d ms wrong, and no longer',
      async (asks, looks) => {
        const sessionId = `s${asks}.${looks}`.replaceAll('-', 'm');
        const first = await node(asks, 300);
        await say(await first.host.open('bot', { sessionId, create: true }), 'go');
        await first.close();
        const brief = await node(asks, 0.001);
        await say(await brief.host.open('bot', { sessionId: `${sessionId}b`, create: true }), 'go');
        await brief.close();

        const second = await node(looks, 300);
        const session = await second.host.open('bot', { sessionId });
        const { requestId, expiresAt, requestedAt } = await only(session);
        setClock(0);
        const left = Date.parse(expiresAt ?? '') - Date.now();
        expect(left).toBeGreaterThan(0);
        expect(left).toBeLessThanOrEqual(300_000 + 5000);
        expect(Math.abs(Date.parse(requestedAt) - Date.now())).toBeLessThan(TEN_MINUTES / 2);
        setClock(looks);
        await session.respond(requestId, { kind: 'approve' });
        await say(session, { kind: 'continue' });
        expect(second.runs).toHaveLength(1);

        const over = await second.host.open('bot', { sessionId: `${sessionId}b` });
        if ((await over.pending()).length > 0) await say(over, { kind: 'continue' });
        const [entry] = await second.host.audit(over.id);
        expect(entry).toMatchObject({ tool: 'pay', outcome: 'denied' });
        expect(second.runs).toHaveLength(1);
        await second.close();
      },
    );
  });
}
