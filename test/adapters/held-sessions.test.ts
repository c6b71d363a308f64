import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rewind } from '../../src/adapters/stores/common/rewind.ts';
import type { SqlSessionService } from '../../src/adapters/stores/sql/services/session-service.ts';
import type { AgentSession } from '../../src/contracts/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { run } from '../../src/index.ts';
import { refusal } from '../host/kit.ts';
import type { TestDatabase } from './databases.ts';
import { postgresServer, sqliteFile } from './databases.ts';
import { shapes, shapesHost } from './held-host.ts';
import type { Child } from './processes.ts';
import { startChild } from './processes.ts';

const isBusy = { status: 'ABORTED', code: 'E_SESSION_BUSY' };

describe.each([sqliteFile, postgresServer])('a session that a process on $name runs', (server) => {
  let database: TestDatabase;
  let service: SqlSessionService;
  let host: AgentHost;
  let other: Child;
  /** What it has said, and whoever waits for more. */
  const said: string[] = [];
  const heard: (() => void)[] = [];
  const ran: string[] = [];

  beforeAll(async () => {
    if (server.skip) return;
    database = await server.make();
    service = await database.open();
    host = shapesHost(service, async (sessionId) => void ran.push(sessionId), 3000);
    other = startChild('held-child.ts', database.url as string);
    expect(await other.next()).toBe('ready');
    void (async () => {
      for (let line = await other.next(); line !== undefined; line = await other.next()) {
        said.push(line);
        for (const wake of heard.splice(0)) wake();
      }
    })();
  });
  afterAll(async () => {
    await other?.kill();
    await host?.close();
    await service?.close();
    await database?.drop();
  });

  async function hears(start: string): Promise<string> {
    for (;;) {
      const line = said.find((one) => one.startsWith(start));
      if (line !== undefined) return line;
      await new Promise<void>((resolve) => heard.push(resolve));
    }
  }

  /** A turn there whose tool runs; the same session here. */
  async function underWay(shape: string, name: string): Promise<{ id: string; session: AgentSession; where: string }> {
    const id = `${shape}-${name}`;
    other.tell(`run ${shape} ${id}`);
    // The tool of a sub-agent is called in a session below.
    const where = (await hears(`started ${id}`)).slice('started '.length);
    return { id, where, session: await host.open(shape, { sessionId: id }) };
  }

  test.skipIf(server.skip).each(shapes)(
    'ATT-B2 another way to call a tool (%s): nobody else gets in',
    async (shape) => {
      const { id, where, session } = await underWay(shape, 'held');
      await expect(run(session, 'hello')).rejects.toMatchObject(isBusy);
      await expect(run(session, { kind: 'continue' })).rejects.toMatchObject(isBusy);
      await expect(rewind(service, { app: 'shop', userId: 'ann', id }, 0)).rejects.toMatchObject(isBusy);
      expect((await host.unfinished()).map(({ sessionId }) => sessionId)).not.toContain(id);
      const running = (await session.pending()).filter(({ name }) => name !== 'pay');
      for (const { requestId } of running) {
        await refusal(session.respond(requestId, { kind: 'approve' }));
        await refusal(session.respond(`${requestId}#rerun`, { kind: 'approve' }));
      }
      const asked = (await host.approvals.list()).filter(({ request }) => request.sessionId === id);
      expect(asked.map(({ request }) => request.name)).toEqual(shape === 'sibling' ? ['pay'] : []);
      for (const { request } of asked) {
        const by = { id: 'ann' };
        expect((await host.approvals.decide(request.requestId, { kind: 'approve' }, { by })).status).toBe('settled');
      }
      expect((await session.steer({ content: 'and be kind' })).disposition).toBe('current_turn');
      other.tell(`finish ${where}`);
      const came = { 'agent-tool': 'slow=ok,within=ok', subagent: 'below=ok,slow=ok', sibling: 'pay=ok,slow=ok' };
      const responses = Object.hasOwn(came, shape) ? came[shape as keyof typeof came] : 'slow=ok';
      expect(await hears(`ended ${id}`)).toBe(`ended ${id} completed ${responses}`);
      await host.idle();
      expect(ran).toEqual([]);
      // Whoever has seen the end may go on.
      expect((await session.standing?.())?.isOver).toBe(true);
    },
  );

  test.skipIf(server.skip).each(shapes)('APP-B5 ATT-B2 another abort (%s): it ends there, whole', async (shape) => {
    const { id, session } = await underWay(shape, 'ended');
    await session.abort({ reason: 'stop' });
    expect(await session.standing?.()).toMatchObject({ isOver: true });
    expect(await session.pending()).toEqual([]);
    const ended = await hears(`ended ${id}`);
    expect(ended).toMatch(new RegExp(`^ended ${id} aborted .*slow=interrupted`));
    expect(ended).not.toContain('=ok');
    expect(ran).toEqual([]);
  });

  test.skipIf(server.skip)('ATT-B2 another command: a delete is refused until its end', async () => {
    const { id, where } = await underWay('hosts', 'deleted');
    await expect(host.sessions().delete(id)).rejects.toMatchObject(isBusy);
    other.tell(`finish ${where}`);
    expect(await hears(`ended ${id}`)).toBe(`ended ${id} completed slow=ok`);
    await host.sessions().delete(id);
    expect(await service.get({ app: 'shop', userId: 'ann', id })).toBeUndefined();
  });

  test.skipIf(server.skip)(
    'CASE-F6 another process learns which calls have begun: those alone are asked about',
    async () => {
      const { id, session } = await underWay('queue', 'killed');
      const open = await session.pending();
      expect(open.map(({ name, started }) => [name, started ?? false])).toEqual([
        ['slow', true],
        ['next', false],
      ]);
      await other.kill();
      await expect.poll(() => service.holder({ app: 'shop', userId: 'ann', id }), { timeout: 20_000 }).toBeUndefined();
      const { pending } = await run(session, { kind: 'continue' });
      expect(pending.map(({ name, elicitation }) => [name, elicitation])).toEqual([['slow', 'rerun_unknown']]);
    },
  );
});
