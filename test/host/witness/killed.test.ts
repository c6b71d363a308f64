import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveExecutor } from '../../../src/host/websocket/index.ts';
import type { Lies } from '../../../src/testing/index.ts';
import { lyingExecutor } from '../../../src/testing/index.ts';
import type { Child } from '../../adapters/processes.ts';
import { startChild } from '../../adapters/processes.ts';
import { door } from '../kit.ts';

/** Where the host is killed: what its executor has heard of last, or what its tool has done. */
type Point = 'settlement' | 'approval' | 'result';

describe('the host of an executor elsewhere is killed', () => {
  let folder: string;
  const servers: Awaited<ReturnType<typeof serveExecutor>>[] = [];
  let point: Point | undefined;
  let dead: ReturnType<typeof door<void>>;
  const children: Child[] = [];
  const runs: string[] = [];

  /** The executor takes what it hears, and whoever said it does not live to know. */
  const at = (reached: Point) => {
    const [host] = children;
    if (point !== reached || !host) return;
    point = undefined;
    process.kill(host.pid, 'SIGKILL');
    void host.kill().then(() => dead.open());
  };
  const lies: Lies = {
    hears(inputs) {
      for (const input of Array.isArray(inputs) ? inputs : []) {
        if (input.kind === 'tool_approval') at('approval');
        if (input.kind === 'tool_result') at('result');
      }
    },
    settlement(_, settlement) {
      at('settlement');
      return settlement;
    },
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coxswain-'));
    // Two, of one executor: a server lets one client at a time control a session.
    const agents = [lyingExecutor({ calls: [{ id: 'c1', name: 'pay', args: { eur: 10 } }], lies })];
    for (let n = 0; n < 2; n++) servers.push(await serveExecutor({ app: 'far', agents }));
    dead = door();
  });
  afterEach(async () => {
    point = undefined;
    runs.length = 0;
    await Promise.all(children.splice(0).map((child) => child.kill()));
    await Promise.all(servers.splice(0).map((server) => server.close()));
    rmSync(folder, { recursive: true });
  });

  async function host(more = '', server = servers[0]): Promise<Child> {
    const script = join('..', 'host', 'witness', 'host-child.ts');
    const child = startChild(script, server?.url ?? '', server?.token ?? '', `sqlite:${join(folder, 'host.db')}`, more);
    children.unshift(child);
    expect(await child.next()).toBe('ready');
    return child;
  }

  /** What it says until it has done its task; what ran is noted. */
  async function said(child: Child, task: string): Promise<string | undefined> {
    for (;;) {
      const line = await child.next();
      if (line?.startsWith('runs ')) runs.push(line);
      else return line?.replace(`${task} `, '');
    }
  }
  async function does(child: Child, task: string): Promise<string | undefined> {
    child.tell(task);
    return said(child, task);
  }

  test('ATT-B1 after a person has said yes: the next host asks nobody, and runs it once', async () => {
    const first = await host();
    expect(await does(first, 'go')).toBe('input_required');
    point = 'settlement';
    first.tell('yes');
    await dead.opened;
    const next = await host();
    expect(await does(next, 'open')).toBe('c1');
    next.tell('finish');
    expect(await does(next, 'continue')).toBe('completed');
    await next.kill();
    expect(await does(await host(), 'continue')).toBe('completed');
    expect(runs).toEqual(['runs {"eur":7}']);
  });

  test.each<[string, Point | 'run']>([
    ['before its tool has started, where the start was noted', 'approval'],
    ['while its tool runs', 'run'],
  ])('ATT-B1 %s: the next host asks whether to run it again', async (_, where) => {
    const first = await host();
    await does(first, 'go');
    expect(await does(first, 'yes')).toBe('settled');
    if (where !== 'run') point = where;
    first.tell('continue');
    if (where === 'run') {
      expect(await first.next()).toBe('runs {"eur":7}');
      await first.kill();
    } else await dead.opened;
    const next = await host();
    expect(await does(next, 'continue')).toBe('input_required');
    expect(await does(next, 'open')).toBe('c1#rerun');
    expect(await does(next, 'no')).toBe('settled');
    expect(await does(next, 'continue')).toBe('completed');
    expect(runs).toEqual([]);
  });

  test('ATT-B1 while its tool runs, and a person says that it is to run again: it does, once', async () => {
    const first = await host();
    await does(first, 'go');
    await does(first, 'yes');
    first.tell('continue');
    expect(await first.next()).toBe('runs {"eur":7}');
    await first.kill();
    const next = await host();
    next.tell('finish');
    expect(await does(next, 'yes')).toBe('settled');
    expect(await does(next, 'continue')).toBe('completed');
    await next.kill();
    expect(await does(await host(), 'continue')).toBe('completed');
    expect(runs).toEqual(['runs {"eur":7}']);
  });

  test('ATT-B1 while a tool runs that may run again: it does, and nobody is asked', async () => {
    const first = await host('idempotent');
    await does(first, 'go');
    await does(first, 'yes');
    first.tell('continue');
    expect(await first.next()).toBe('runs {"eur":7}');
    await first.kill();
    const next = await host('idempotent');
    next.tell('finish');
    expect(await does(next, 'continue')).toBe('completed');
    expect(runs).toEqual(['runs {"eur":7}']);
  });

  test('ATT-B1 once its executor has heard the result: nothing is asked, and nothing runs', async () => {
    const first = await host();
    await does(first, 'go');
    await does(first, 'yes');
    point = 'result';
    first.tell('finish');
    first.tell('continue');
    await dead.opened;
    const next = await host();
    expect(await does(next, 'open')).toBe('');
    expect(await does(next, 'continue')).toBe('completed');
    expect(runs).toEqual([]);
  });

  test('ATT-B1 two hosts in two processes over one store go on at once: one yes, one run', async () => {
    const [first, second] = [await host(), await host('', servers[1])];
    expect(await does(first, 'go')).toBe('input_required');
    expect(await does(second, 'yes')).toBe('settled');
    for (const child of [first, second]) {
      child.tell('finish');
      child.tell('continue');
    }
    await Promise.all([first, second].map((child) => said(child, 'continue')));
    expect(runs).toEqual(['runs {"eur":7}']);
  });
});
