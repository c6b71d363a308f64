import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MINIMUM_NODE, nodeVersionFault } from '../../src/node-version.ts';
import { Place, puppet } from './coxswain.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
};

describe('the Node version', () => {
  test('is the one that the package asks for', () => {
    expect(`>=${MINIMUM_NODE}`).toMatch(manifest.engines.node);
  });

  test.each(['18.20.8', '20.20.2', '22.12.0'])('%s is too old, and the message says what to do', (version) => {
    expect(nodeVersionFault(version)).toMatch(new RegExp(`this is Node ${version}, and 22\\.13 .* install it from`));
  });

  test.each(['22.13.0', '23.0.0', '24.1.0', process.versions.node])('%s will do', (version) => {
    expect(nodeVersionFault(version)).toBeUndefined();
  });

  test('is checked before anything is loaded', () => {
    const entry = readFileSync(join(root, 'src', 'cli.ts'), 'utf8');
    expect(entry.match(/^import .*/gm)).toEqual(["import { nodeVersionFault } from './node-version.ts';"]);
    expect(readFileSync(join(root, 'src', 'node-version.ts'), 'utf8')).not.toMatch(/^import /m);
  });
});

describe('help', () => {
  test.each([
    [[]],
    [['run']],
    [['sessions', 'list']],
    [['sessions', 'show']],
    [['sessions', 'delete']],
    [['approvals', 'list']],
    [['approvals', 'approve']],
    [['approvals', 'deny']],
  ])('of %j has an example', async (command) => {
    const { code, stdout, stderr } = await place.run([...command, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/Examples?:\n {2}\$ .*coxswain/);
  });

  test('and version', async () => {
    expect(await place.run(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});

describe('mistakes', () => {
  test.each<[string[], RegExp]>([
    [['runn', puppet], /unknown command 'runn' \(Did you mean run\?\); see coxswain --help/],
    [
      ['run', puppet, 'x', '--polcy', 'f'],
      /unknown option '--polcy' \(Did you mean --policy\?\); see coxswain run --help/,
    ],
    [['sessions', 'sho', 'x'], /unknown command 'sho'.*; see coxswain sessions --help/],
    [['run'], /missing required argument 'module'/],
    [['run', puppet, 'x', '--approve', 'maybe'], /Allowed choices are ask, allow, deny/],
    [['run', puppet, 'x', '--mode', 'yolo'], /Allowed choices are default/],
    [['run', puppet, 'x', '--max-steps', '1.5'], /whole number above 0/],
    [['run', puppet, 'x', '--max-usd', '-1'], /E_USAGE/],
    [['run', puppet, 'x', '--timeout', 'soon'], /Give minutes, or 30s, 5m, 1h/],
    [['run', puppet, 'x', '--timeout', '0'], /Give minutes/],
    [['run', puppet, 'x', '--json', '--stream-json'], /exclude one another/],
    [['run', puppet, 'x', '--workspace', 'nowhere'], /there is no folder nowhere/],
    [['run', puppet, 'x', '--user', 'a/b'], /user "a\/b" holds a separator/],
    [['run', 'nowhere.ts', 'x'], /there is no agent module nowhere\.ts/],
    [['serve', puppet, '--trace-url', 'https://traces.example/{traceId}'], /--trace-url .*: give --ui too/],
    [['serve', puppet, '--ui', '--trace-url', 'traces.example/{traceId}'], /--trace-url must be an https: or http:/],
    [['serve', puppet, '--ui', '--trace-url', 'ftp://traces.example/{traceId}'], /--trace-url must be an https: or/],
    [['serve', puppet, '--ui', '--trace-url', 'https://traces.example/'], /--trace-url must be .* with \{traceId\}/],
    [['approvals', 'approve', 'x'], /--agent MODULE is needed/],
    [['approvals', 'approve', 'x', '--agent', puppet, '--args', '[1]'], /--args must be a JSON object/],
    [['approvals', 'approve', 'x', '--agent', puppet, '--args', '{'], /--args is not JSON/],
  ])('%j: 2, one line, a hint', async (args, message) => {
    const { code, stdout, stderr } = await place.run(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^coxswain: E_\w+ .+\n$/);
    expect(stderr).toMatch(message);
  });

  test('no command at all: help, and 2', async () => {
    const { code, stderr } = await place.run([]);
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: coxswain');
  });

  test('a store that is not known is not told by its password', async () => {
    const { code, stderr } = await place.run(['sessions', 'list', '--store', 'redis://me:secret@host/db']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^coxswain: E_STORE_URL --store: .*redis: is not/);
    expect(stderr).not.toContain('secret');
  });

  test('a store in a folder that is not there: 1', async () => {
    const { code, stderr } = await place.run(['sessions', 'list', '--store', 'sqlite:no/such/folder.db']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^coxswain: E_STORE .*no\/such/);
  });

  test('a session that is not there: 1', async () => {
    const { code, stderr } = await place.run(['run', puppet, 'say x', '--session', 'nobody']);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'coxswain: E_SESSION_NOT_FOUND there is no session nobody in sqlite:.coxswain/coxswain.db',
    );
  });

  test('NEW-T15 a store that nobody answers at is told without an append that never was', async () => {
    const { code, stderr } = await place.run(['sessions', 'list', '--store', 'postgres://ann@127.0.0.1:1/x']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^coxswain: E_STORE .*127\.0\.0\.1:1\/x cannot be reached \(.*ECONNREFUSED.*\): check host and port/,
    );
    expect(stderr).not.toContain('append');
  });

  test('--verbose shows where an error comes from', async () => {
    writeFileSync(join(place.path, 'throws.ts'), "throw new Error('no key');\n");
    const quiet = await place.run(['run', 'throws.ts', 'x']);
    const told = 'throws.ts could not be loaded: no key (throws.ts:1:7)';
    expect(quiet).toMatchObject({ code: 1, stderr: `coxswain: E_INTERNAL ${told}\n` });
    const { stderr } = await place.run(['run', 'throws.ts', 'x', '--verbose']);
    expect(stderr).toMatch(/^\s+at .*throws\.ts:1/m);
  });
});

describe('agent modules', () => {
  test('NEW-D11 a module that does not load is told with file, line and column', () => {
    mkdirSync(join(place.path, 'lib'));
    const faults: Record<string, [text: string, said: RegExp]> = {
      'a.ts': ['export const x = 1;\nexport const agent = {,};\n', /^E_USAGE a\.ts:2:23: Unexpected token/],
      'b.mjs': ['\n\nexport const agent = {,};\n', /^E_USAGE b\.mjs:3:23: Unexpected token/],
      'lib/c.ts': ['const b = ;\n', /^E_USAGE lib\/c\.ts:1:11: /],
      'd.mjs': ["import './lib/c.ts';", /^E_USAGE lib\/c\.ts:1:11: /],
      'e.ts': ['enum A { B }\n', /^E_USAGE e\.ts:1:1: .*erasableSyntaxOnly/],
      'f.mjs': ["import { x } from './g.mjs';", /^E_USAGE f\.mjs:1:10: .*named 'x'/],
      'g.mjs': ["throw new Error('no key');", /^E_INTERNAL g\.mjs could not be loaded: no key \(g\.mjs:1:7\)/],
      'h.mjs': ["import './nowhere.mjs';", /^E_USAGE h\.mjs imports what is not there: .*nowhere\.mjs/],
      'i.mjs': ["import 'no-such-thing';", /^E_USAGE i\.mjs .*install it \(npm install no-such-thing\)/],
    };
    for (const [name, [text]] of Object.entries(faults)) writeFileSync(join(place.path, name), text);
    const script = `
      const { loadAgentModule } = await import(${JSON.stringify(join(root, 'src', 'cli', 'workspace', 'agent-module.ts'))});
      for (const name of ${JSON.stringify(Object.keys(faults))}) {
        await loadAgentModule(name, {}).catch(({ code, message }) => console.log(code, message));
      }`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: place.path,
      encoding: 'utf8',
    });
    expect(stdout.trim().split('\n')).toEqual(Object.values(faults).map(([, said]) => expect.stringMatching(said)));
  });

  const agent = `const agent = {
    name: 'tiny', description: '', subAgents: [],
    async run(context) {
      const parts = [{ type: 'text', text: 'tiny' }];
      await context.emit({ content: { role: 'model', parts } });
      return { kind: 'done' };
    },
  };\n`;
  test.each<[string, string]>([
    ['named exports', 'export { agent };\nexport const tools = [];'],
    ['a default object', 'export default { agent, tools: [] };'],
    ['an agent as default, the rest by name', 'export default agent;\nexport const tools = [];'],
    ['a function', 'export default () => ({ agent });'],
    ['an asynchronous function', 'export default async () => agent;'],
  ])('may be %s', async (_, exported) => {
    writeFileSync(join(place.path, 'tiny.mjs'), agent + exported);
    expect(await place.run(['run', 'tiny.mjs', 'x', '--store', 'memory:'])).toMatchObject({
      code: 0,
      stdout: 'tiny\n',
    });
  });

  test.each<[string, string]>([
    ['nothing', 'export {};'],
    ['something else', 'export default { agent: 5 };'],
  ])('that export %s are refused with what is expected', async (_, exported) => {
    writeFileSync(join(place.path, 'odd.mjs'), exported);
    const { code, stderr } = await place.run(['run', 'odd.mjs', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain('odd.mjs exports no agent; export "agent"');
  });

  test('a folder is refused', async () => {
    mkdirSync(join(place.path, 'agents'));
    expect((await place.run(['run', 'agents', 'x'])).stderr).toContain('agents is a folder');
  });

  test('TypeScript in node_modules, which Node does not load, is named, with what to do', async () => {
    const folder = join(place.path, 'node_modules', 'bots');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bot.ts'), 'export const agent: unknown = undefined;');
    const { code, stderr } = await place.run(['run', 'node_modules/bots/bot.ts', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain('copy it into your project');
  });

  test('are told workspace, environment and where they may write', async () => {
    const body = `export default (context) => {
      const { workspace, cwd, env, interactive } = context;
      context.note(JSON.stringify({ workspace, cwd, who: env.WHO, interactive, data: context.dataFolder() }));
      return agent;
    };`;
    writeFileSync(join(place.path, 'told.mjs'), agent + body);
    const { stderr } = await place.run(['run', 'told.mjs', 'x', '--workspace', place.desk], { env: { WHO: 'me' } });
    expect(JSON.parse(stderr.split('\n')[0] ?? '')).toMatchObject({
      workspace: place.desk,
      who: 'me',
      interactive: false,
    });
  });
});
