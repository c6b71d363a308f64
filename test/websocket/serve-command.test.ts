import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import { openStore } from '../../src/adapters/stores/open-store.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Place, puppet } from '../cli/coxswain.ts';
import { mortal } from '../runtime/kit.ts';
import { all, client } from './kit.ts';

describe('coxswain serve', () => {
  test('serves a module, keeps its token to itself, logs JSON without content, and goes away on SIGTERM', async () => {
    using place = new Place();
    const running = place.start([
      'serve',
      puppet,
      '--workspace',
      place.desk,
      '--port',
      '0',
      '--store',
      'memory:',
      '--http',
    ]);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await running.shows('\n');
    const { url, http, tokenFile } = JSON.parse(running.stdout);
    const token = readFileSync(tokenFile, 'utf8');
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    expect((await fetch(url.replace('ws', 'http').replace('/v1', '/healthz'))).status).toBe(200);
    const asked = await fetch(`${http}/agents`, { headers: { authorization: `Bearer ${token}` } });
    expect([asked.status, await asked.json()]).toMatchObject([200, { agents: [{}] }]);
    const remote = await client({ url }, token);
    const session = await remote.open(remote.agents[0]?.name ?? '');
    const events = await all(session.stream('a word that no log shows'));
    expect(events.at(-1)?.type).toBe('stream_end');
    await remote.close();
    running.child.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(existsSync(tokenFile)).toBe(false);
    const lines = stderr
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    expect(lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['connected', 'initialised', 'closed', 'closing']),
    );
    expect(stdout + stderr).not.toContain(token);
    expect(stderr).not.toContain('a word that no log shows');
  });

  test('--recover goes on at its start with what a process that died has cut off', async () => {
    using place = new Place();
    const url = `sqlite:${join(place.path, 'cut.db')}`;
    const store = await openStore(url);
    const dying = mortal(store, (events) => events.some(({ content }) => content?.role === 'model'));
    const agents = [new LlmAgent({ name: 'puppet', model: new ScriptedModel(['never stored']) })];
    const session = await createHost({ app: 'cli', agents, store: dying, warn: () => {} }).open('puppet', {
      sessionId: 's',
      create: true,
      userId: 'anna',
    });
    await all(session.stream('say all is well'));
    const log = async () => (await store.get({ app: 'cli', userId: 'anna', id: 's' }))?.events ?? [];
    expect((await log()).map(({ author }) => author)).toEqual(['user']);
    const running = place.start([
      'serve',
      puppet,
      '--workspace',
      place.desk,
      '--port',
      '0',
      '--store',
      url,
      '--recover',
    ]);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await running.shows('"event":"recovering","sessions":1', 'stderr');
    await expect.poll(async () => (await log()).at(-1)?.actions.end?.reason, { timeout: 20_000 }).toBe('completed');
    expect(JSON.stringify(await log())).toContain('"text":"all is well"');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    await store.close();
  });

  test('ATT-B15 NEW-R3 people are named by the digests of their tokens, too', async () => {
    using place = new Place();
    const file = join(place.path, 'people.json');
    const tokens = { anna: 'a token of anna, whole', bert: 'a token of bert, whole' };
    const tokenSha256 = createHash('sha256').update(tokens.anna).digest('hex').toUpperCase();
    writeFileSync(
      file,
      JSON.stringify([
        { tokenSha256, id: 'anna' },
        { token: tokens.bert, id: 'bert' },
      ]),
    );
    chmodSync(file, 0o644);
    const args = ['serve', puppet, '--workspace', place.desk, '--port', '0', '--store', 'memory:', '--people', file];
    const running = place.start(args);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await running.shows('\n');
    const { url } = JSON.parse(running.stdout);
    for (const [id, token] of Object.entries(tokens)) expect((await client({ url }, token)).principal.id).toBe(id);
    // NEW-R3: a file of tokens that others can read is warned about, not one of digests; no token is in the warning.
    expect(running.stderr).toMatch(
      /"event":"warning","message":"[^"]*people\.json holds tokens and others can read it \(mode 6\d\d\): chmod 600 /,
    );
    expect(running.stderr).not.toContain(tokens.bert);
    await expect(client({ url }, tokenSha256)).rejects.toMatchObject({ code: 'E_UNAUTHENTICATED' });
    running.child.kill('SIGTERM');
    await running.ended;
    writeFileSync(file, JSON.stringify([{ tokenSha256: 'abc', id: 'anna' }]));
    const refused = (await place.run(args)).stderr;
    expect(refused).toContain('64 hex digits');
    expect(refused).not.toContain('others can read');
  });

  test('is reachable from elsewhere only where people are named', async () => {
    using place = new Place();
    const open = await place.run(['serve', puppet, '--listen', '0.0.0.0', '--port', '0']);
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('--people')]);
    const file = join(place.path, 'people.json');
    writeFileSync(file, '[{"token": "short", "id": "anna"}]');
    const weak = await place.run(['serve', puppet, '--people', file, '--port', '0']);
    expect([weak.code, weak.stderr]).toEqual([2, expect.stringContaining('16 characters')]);
    expect(weak.stderr).not.toContain('"short"');
  });

  test('WS-80 --people says who is an operator, and for what; what cannot be read makes nobody one', async () => {
    using place = new Place();
    const file = join(place.path, 'people.json');
    const write = (people: object[]) => writeFileSync(file, JSON.stringify(people), { mode: 0o600 });
    const serve = ['serve', puppet, '--workspace', place.desk, '--port', '0', '--store', 'memory:', '--people', file];
    const anna = { token: 'token-of-anna-0123', id: 'anna' };
    for (const people of [
      [{ ...anna, operator: 'yes' }],
      [{ ...anna, operator: { user: ['ben'] } }],
      [{ ...anna, operator: { users: 'ben' } }],
      [
        { ...anna, operator: true },
        { token: 'another-of-anna-0123', id: 'anna' },
      ],
    ]) {
      write(people);
      const refused = await place.run(serve);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/--people: .*"operator"/)]);
    }
    write([
      { ...anna, operator: { users: ['ben'] } },
      { token: 'token-of-ben-01234', id: 'ben' },
    ]);
    const running = place.start(serve);
    await running.shows('"event":"listening"');
    const { url } = JSON.parse(running.stdout.split('\n')[0] ?? '') as { url: string };
    const [operator, other] = await Promise.all([
      connect(url, { token: anna.token }),
      connect(url, { token: 'token-of-ben-01234' }),
    ]);
    expect(other.operator).toBeUndefined();
    await using _ = await other.open('puppet', { sessionId: 'bens', create: true });
    expect((await operator.operator?.sessions())?.sessions.map(({ id }) => id)).toEqual(['bens']);
    await Promise.all([operator.close(), other.close()]);
    running.child.kill('SIGTERM');
    await running.ended;
  });
});
