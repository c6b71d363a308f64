import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { rulePolicy } from '../../src/index.ts';
import { folder } from '../audit/kit.ts';
import { bot, hostOf, notingTool, say } from '../host/kit.ts';
import { command } from './in-process.ts';

let place: ReturnType<typeof folder>;
let sessionId: string;
let calls: { callId: string; tool: string }[];
beforeAll(async () => {
  place = folder();
  const store = openSqlite(join(place.path, 'log.db'));
  const { host } = hostOf(
    bot([{ calls: [['look', { path: 'a', key: 's3cret' }], ['pay', { eur: 5 }], ['gone']] }, 'done']),
    {
      store,
      tools: [notingTool('look', { kind: 'read', annotations: { readOnly: true } }).tool, notingTool('pay').tool],
      policy: rulePolicy([
        { id: 'looks', tool: 'look', outcome: 'allow', redact: ['/key'] },
        { id: 'pays', tool: 'pay', outcome: 'ask' },
      ]),
      permissionMode: 'auto_edit',
    },
  );
  const session = await host.open('bot', { principal: { id: 'ann', roles: ['clerk', 'boss'] } });
  await say(session, 'go');
  const [request] = await session.pending();
  await session.respond(request?.requestId ?? '', {
    kind: 'approve',
    args: { eur: 4 },
    previewDigest: request?.approval?.previewDigest as string,
  });
  await say(session, { kind: 'continue' });
  sessionId = session.id;
  calls = await host.audit(sessionId, { reveal: ['x'], viewer: { id: 'v', roles: ['x'] } });
  await host.close();
  await store.close();
});
afterAll(() => place.remove());

const file = (name: string, text: string) => {
  const path = join(place.path, name);
  writeFileSync(path, text);
  return path;
};
const explain = (policy: string, tool: string, ...flags: string[]) =>
  command([
    ...[
      'policy',
      'explain',
      policy,
      calls.find((call) => call.tool === tool)?.callId ?? 'none',
      '--session',
      sessionId,
    ],
    ...['--store', `sqlite:${join(place.path, 'log.db')}`, '--app', 'shop', '--user', 'local', ...flags],
  ]);

describe('policy explain of a stored call', () => {
  const facts = () =>
    file(
      'facts.yaml',
      `version: 1
rules:
  - { id: all, tool: look, role: boss, principal: ann, agent: bot, kind: read, mode: auto_edit, annotations: { readOnly: true }, outcome: allow }
  - { id: four, tool: pay, args: { /eur: { const: 4 } }, outcome: ask }
`,
    );

  test('is asked with what policy was asked with then: roles, source, kind, annotations, path, mode, edited arguments', async () => {
    const { stdout } = await explain(facts(), 'look');
    expect(stdout).toContain('allow by all\n');
    expect(stdout).toMatch(
      /asked with args \{.*\}; as ann \(clerk, boss\); agents bot; source host; kind read; mode auto_edit/,
    );
    expect(JSON.parse((await explain(facts(), 'look', '--json')).stdout).request).toMatchObject({
      action: 'look',
      principal: { id: 'ann', roles: ['clerk', 'boss'] },
      principalPath: ['ann', 'bot'],
      context: {
        resource: { source: 'host', kind: 'read', annotations: { readOnly: true } },
        session: { id: sessionId },
        agentPath: ['bot'],
        permissionMode: 'auto_edit',
        interactive: true,
      },
    });
    expect((await explain(facts(), 'pay')).stdout).toContain('ask by four\n');
  });

  test('does not show what audits hide, though policy is asked with it', async () => {
    const keys = file(
      'keys.yaml',
      'version: 1\nrules:\n  - { id: key, tool: look, args: { /key: s3c }, outcome: allow }\n',
    );
    // Nor in why a condition does not hold.
    const other = file(
      'others.yaml',
      'version: 1\nrules:\n  - { id: key, tool: look, args: { /key: "^x" }, outcome: allow }\n',
    );
    for (const policy of [keys, other]) {
      for (const flags of [[], ['--json']]) {
        const { stdout } = await explain(policy, 'look', ...flags);
        expect(stdout).toContain('key');
        expect([stdout.includes('[redacted]'), stdout.includes('s3cret')]).toEqual([true, false]);
      }
    }
  });

  test('flags go before what is stored, and a call that no policy was asked about says so', async () => {
    const { stdout } = await explain(facts(), 'look', '--as', 'bob', '--role', 'boss');
    expect(stdout).toContain('principal: "bob" is not "ann"');
    expect((await explain(facts(), 'gone')).stdout).toMatch(
      /nothing was decided\nstored: not what policy was asked with/,
    );
  });

  test('of a session that is not there', async () => {
    const args = [
      'policy',
      'explain',
      facts(),
      'x',
      '--session',
      'none',
      '--store',
      `sqlite:${join(place.path, 'log.db')}`,
    ];
    expect((await command(args)).stderr).toContain('does not exist');
  });
});

describe('a mode', () => {
  const rules =
    'version: 1\nrules:\n  - { id: pays, tool: pay, outcome: ask }\n  - { id: notes, tool: note, outcome: allow }\n';

  test('is put over the policy by policy explain, as a host does', async () => {
    const policy = file('rules.yaml', rules);
    const explained = async (...args: string[]) =>
      (await command(['policy', 'explain', policy, ...args])).stdout.split('\n')[0];
    expect(await explained('note')).toBe('allow by notes');
    expect(await explained('note', '--mode', 'plan')).toMatch(/^deny by preset:plan \(mode plan; otherwise allow\): /);
    expect(await explained('pay', '--mode', 'dont_ask')).toMatch(/^deny by pays \(mode dont_ask; otherwise ask\): /);
    expect(await explained('note', '--mode', 'dont_ask')).toBe('allow by notes');
  });

  test('is put over the policy by policy test', async () => {
    const cases = file(
      'modes.yaml',
      `version: 1
cases:
  - { call: note, mode: plan, expect: deny }
  - { call: pay, mode: dont_ask, expect: { outcome: deny, rule: pays } }
  - { call: note, mode: dont_ask, expect: allow }
`,
    );
    const { code, stdout } = await command(['policy', 'test', file('rules.yaml', rules), '--cases', cases]);
    expect([code, stdout.split('\n').at(-2)]).toEqual([0, '3 passed, 0 failed']);
  });

  test('roles of nobody are an error, not left out', async () => {
    const policy = file('rules.yaml', rules);
    expect((await command(['policy', 'explain', policy, 'pay', '--role', 'boss'])).stderr).toContain('--as');
    const cases = file('roles.yaml', 'version: 1\ncases:\n  - { call: pay, roles: [boss], expect: ask }\n');
    const tried = await command(['policy', 'test', policy, '--cases', cases]);
    expect(tried.stderr).toMatch(/roles\.yaml:3: "roles" are of somebody/);
  });
});

test('what a policy names that is not there is told wherever the tools are known', async () => {
  const { puppet } = await import('./coxswain.ts');
  const policy = file('names.yaml', 'version: 1\nrules:\n  - { tool: [look, lok], outcome: allow }\n');
  const line = `coxswain: ${policy}:3 names a tool that is not there: lok (did you mean look?)\n`;
  const told = async (...args: string[]) => (await command(args)).stderr.includes(line);
  expect(await told('policy', 'explain', policy, 'look')).toBe(false);
  expect(await told('policy', 'explain', policy, 'look', '--agent', puppet)).toBe(true);
  expect(await told('run', puppet, 'say hi', '--policy', policy, '--store', 'memory:')).toBe(true);
});
