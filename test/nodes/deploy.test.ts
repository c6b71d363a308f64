import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { connect } from '../../src/adapters/remote/index.ts';
import type { TestDatabase } from '../adapters/databases.ts';
import { postgresServer } from '../adapters/databases.ts';
import { Place, puppet } from '../cli/coxswain.ts';

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  stop_grace_period?: string;
  depends_on?: object;
  volumes?: string[];
  deploy?: { replicas: number };
}

const folder = join(import.meta.dirname, '..', '..', 'deploy');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const compose = parse(read('compose.yaml')) as { services: Record<string, Service>; volumes: object };
const unit = read('coxswain@.service');
const proxy = read('haproxy.cfg');
const node = compose.services.node ?? {};
/** Of the unit: sections with their settings. */
const settings = Object.fromEntries(
  [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value] as const),
);

const flagOf = (words: readonly string[], name: string): string | undefined => {
  const at = words.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  if (at < 0) return undefined;
  const [, value] = words[at]?.split('=') ?? [];
  return value ?? words[at + 1];
};

test('DP-01 what is deployed fits together: services, ports, health, and more time to stop than a node takes', () => {
  expect(Object.keys(compose.services).sort()).toEqual(['nats', 'node', 'postgres', 'proxy']);
  for (const { depends_on: needs } of Object.values(compose.services)) {
    for (const name of Array.isArray(needs) ? needs : Object.keys(needs ?? {}))
      expect(compose.services).toHaveProperty(name);
  }
  const words = node.command ?? [];
  expect(words.slice(0, 3)).toEqual(['npx', 'coxswain', 'serve']);
  expect(Number.parseInt(node.stop_grace_period ?? '', 10)).toBeGreaterThan(Number(flagOf(words, 'deadline')));
  expect(node.environment?.COXSWAIN_STORE).toMatch(/^postgres:\/\/coxswain:\$\{POSTGRES_PASSWORD\}@postgres\//);
  expect(new URL(flagOf(words, 'bus') ?? '').hostname).toBe('nats');
  // The proxy asks each node, at the port that the command has by itself, and finds as many as there are.
  expect(proxy).toContain('option httpchk GET /readyz');
  expect(proxy).toMatch(new RegExp(`server-template node ${node.deploy?.replicas} node:4747`));
  const started = settings.ExecStart?.split(' ') ?? [];
  expect(started.slice(1, 3)).toEqual(['coxswain', 'serve']);
  expect(Number(settings.TimeoutStopSec)).toBeGreaterThan(Number(flagOf(started, 'deadline')));
  expect(settings).toMatchObject({ EnvironmentFile: '/etc/coxswain/env', Restart: 'always', KillSignal: 'SIGTERM' });
  expect(flagOf(started, 'port')).toBe('%i');
});

describe.skipIf(postgresServer.skip !== undefined)('the same topology as processes', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgresServer.make();
    await (await database.open()).close();
  });
  afterAll(async () => {
    await database.query('DROP SCHEMA IF EXISTS coxswain_queue CASCADE');
    await database.drop();
  });

  /** Starts as many nodes as there are by these words, with what only the machine of a test has otherwise. */
  async function run(place: Place, words: readonly string[], count: number): Promise<void> {
    // As the file that the units read: one variable a line.
    const env = join(place.path, 'env');
    writeFileSync(env, `COXSWAIN_STORE=${database.url}\n`, { mode: 0o600 });
    writeFileSync(join(place.path, 'policy.yaml'), 'version: 1\ndefault: allow\nrules: []\n');
    const anna = { token: 'token-of-anna-0123', id: 'anna' };
    writeFileSync(join(place.path, 'people.json'), JSON.stringify([anna]), { mode: 0o600 });
    const given = Object.fromEntries(
      readFileSync(env, 'utf8')
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const here = words
      .slice(2)
      .map((word) => (word === 'agent.ts' ? puppet : word.replace(/nats:\/\/nats:4222/, 'postgres')))
      .map((word) => word.replace('0.0.0.0', '127.0.0.1').replace('%i', '0'));
    const port = flagOf(here, 'port') === undefined ? ['--port', '0'] : [];
    const args = [...here, ...port, '--workspace', place.desk];
    const nodes = Array.from({ length: count }, () => place.start(args, { env: given }));
    const urls = await Promise.all(
      nodes.map(async (running) => {
        await running.shows('"event":"listening"');
        return (JSON.parse(running.stdout.split('\n')[0] ?? '') as { url: string }).url;
      }),
    );
    for (const url of urls) {
      const ready = await fetch(url.replace('ws:', 'http:').replace(/\/v1$/, '/readyz'));
      expect(ready.status).toBe(200);
    }
    // What one node runs, each of them shows.
    // By the name that the command allows, as a client behind the proxy comes.
    const named = urls.map((url) => url.replace('127.0.0.1', flagOf(words, 'allow-host') ?? '127.0.0.1'));
    const [first, ...others] = await Promise.all(named.map((url) => connect(url, { token: anna.token })));
    const sessionId = `s-${count}-${place.path.slice(-6)}`;
    const session = await first?.open('puppet', { sessionId, create: true });
    for await (const _ of session?.stream('say hello from one') ?? []);
    for (const other of others) {
      const same = await other.open('puppet', { sessionId });
      const texts: string[] = [];
      for await (const event of same.events()) if (event.type === 'message') texts.push(JSON.stringify(event.content));
      expect(texts.join()).toContain('hello from one');
    }
    await Promise.all([first, ...others].map((remote) => remote?.close()));
    for (const { child } of nodes) child.kill('SIGTERM');
    expect((await Promise.all(nodes.map(({ ended }) => ended))).map(({ code }) => code)).toEqual(nodes.map(() => 0));
  }

  test('DP-02 as many nodes as the compose file has start by its command, share a session, and stop in time', async () => {
    using place = new Place();
    await run(place, node.command ?? [], node.deploy?.replicas ?? 0);
  });

  test('DP-03 nodes start by the command of the unit, with its file of variables', async () => {
    using place = new Place();
    await run(place, settings.ExecStart?.replace(/^\S+ /, 'npx ').split(' ') ?? [], 2);
  });
});
