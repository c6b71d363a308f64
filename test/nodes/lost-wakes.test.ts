import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { Dispatcher, SessionPlace } from '../../src/contracts/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { createEvent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { startChild } from '../adapters/processes.ts';
import { door } from '../host/kit.ts';
import { until } from './cluster.ts';

let folder: string;
let path: string;
let host: AgentHost | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-wakes-'));
  path = join(folder, 's.db');
});
afterEach(async () => {
  await host?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Look = Parameters<Dispatcher['serve']>[0];

/** Brings what it is told of, but for the first wakes, which are lost on their way. */
function losing(lost: number) {
  let look: Look | undefined;
  let wakes = 0;
  const dispatcher: Dispatcher = {
    async wake(place) {
      if (++wakes > lost) await look?.(place);
    },
    async schedule() {},
    async serve(given) {
      look = given;
      return async () => {};
    },
    async close() {},
  };
  return { dispatcher, bring: (place: SessionPlace, again: boolean) => look?.(place, { again }) };
}

function makeHost(dispatcher: Dispatcher) {
  const { opened, open } = door();
  const model = new ScriptedModel([
    () => {
      open();
      return 'done';
    },
  ]);
  const agents = [new LlmAgent({ name: 'bot', model })];
  host = createHost({ app: 'shop', userId: 'ann', agents, store: openSqlite(path), dispatcher });
  return { host, asked: opened };
}

test('LW-01 a wake that a dispatcher loses is repeated until something is stored, less often each time', async () => {
  // Of the submit, of the start, and of the second look.
  const { host, asked } = makeHost(losing(3).dispatcher);
  await host.submit('bot', 'go', { sessionId: 's1', create: true });
  await host.work({ lookMs: 10 });
  await asked;
});

test('LW-02 a look that another program had begun has all turns of the dead looked for at once', async () => {
  const { dispatcher, bring } = losing(0);
  const { host, asked } = makeHost(dispatcher);
  const store = openSqlite(path);
  const of = (id: string) => ({ app: 'shop', userId: 'ann', id });
  await store.create(of('s1'));
  const content = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'go' }] };
  await store.append(of('s1'), [createEvent({ author: 'user', content, actions: { turn: { start: 'bot' } } })]);
  const child = startChild('store-child.ts', `sqlite:${path}`, 'holder');
  expect(await child.next()).toBe('ready');
  child.tell('hold s1');
  expect(await child.next()).toMatch(/^held /);
  // The next look by itself is in an hour.
  await host.work({ lookMs: 3_600_000 });
  await child.kill();
  await until(async () => (await store.holder(of('s1'))) === undefined);
  await bring({ agent: 'bot', userId: 'ann', sessionId: 'another' }, true);
  await asked;
  await store.close();
});
