import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSql } from '../../src/adapters/stores/sql/index.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import type { SessionKey } from '../../src/runtime/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import type { Recipe } from './servers.ts';
import { answering, freePort, initialise, startServer } from './servers.ts';

const key: SessionKey = { app: 'shop', userId: 'ann', id: 'killed' };
const WRITERS = 4;

/**
 * A database server is killed while it is written to, and started again, over and over: its clients are told so, soon,
 * go on with the connections that they get then, and find all that was acknowledged.
 */
export async function killServer(recipe: Recipe, rounds: number, random: (below: number) => number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-killed-'));
  // The server may run under another account.
  chmodSync(folder, 0o755);
  const place = join(folder, recipe.name);
  mkdirSync(place, { mode: 0o755 });
  initialise(recipe, place);
  const port = await freePort();
  let server = startServer(recipe, place, port);
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    process.kill(-(server.pid as number), 'SIGKILL');
    await ended;
  };
  try {
    const open = () => openSql(recipe.url(port), { maxConnections: 4 });
    await answering(recipe.name, async () => (await open()).close());
    const service = await open();
    await service.create(key);
    const known = new Set<string>();
    let unknown = 0;
    for (let round = 0; round < rounds; round++) {
      const lease = await service.acquire(key);
      let stop = WRITERS * random(30);
      const write = async (writer: number) => {
        for (let n = 0; ; n++) {
          const id = `${round}-${writer}-${n}`;
          const stateDelta = { [`n${writer}`]: n };
          await service.append(key, [createEvent({ id, author: 'w', actions: { stateDelta } })], {
            epoch: lease.epoch,
          });
          known.add(id);
          if (stop-- === 0) void kill();
        }
      };
      const ends = await Promise.allSettled(Array.from({ length: WRITERS }, (_, n) => write(n)));
      unknown += WRITERS;
      for (const end of ends) {
        assert(end.status === 'rejected' && isCoxswainError(end.reason), String(end));
        assert.deepEqual([end.reason.status, end.reason.code], ['UNAVAILABLE', 'E_STORE'], end.reason.message);
      }
      await kill();
      await assert.rejects(lease.release(), { code: 'E_STORE' });
      server = startServer(recipe, place, port);
      await answering(recipe.name, () => service.get(key, { limit: 0 }));
      const { events, lastSeq } = (await service.get(key))!;
      assert.deepEqual(
        events.map(({ seq }) => seq),
        Array.from({ length: lastSeq }, (_, n) => n + 1),
      );
      const ids = new Set(events.map(({ id }) => id));
      assert.equal(ids.size, lastSeq);
      for (const id of known) assert(ids.has(id), `${id} was acknowledged and is lost`);
      assert(lastSeq <= known.size + unknown);
    }
    await service.close();
    return known.size;
  } finally {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
