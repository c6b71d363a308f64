import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findTarget } from '../../src/cli/commands/conformance-target.ts';
import { judge, requirements, runConformance } from '../../src/conformance/index.ts';
import { serveExecutor } from '../../src/host/websocket/index.ts';
import { fromAgent, LlmAgent } from '../../src/index.ts';
import { Place } from '../cli/coxswain.ts';
import { command } from '../cli/in-process.ts';
import { fixtureModel } from './fixture-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'coxswain-kit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const executor = join(import.meta.dirname, '../../examples/minimal-executor/executor.ts');
const source = join(import.meta.dirname, '../../src/index.ts');
const first = requirements.filter(({ id }) => id === 'CX-LIFE-01');

test('coxswain conformance judges a command, reports as JSON and JUnit, and fails on a stale expectation', async () => {
  const place = new Place();
  writeFileSync(join(place.path, 'known.json'), '{"CX-TURN-01":"mended","CX-TOOL-01":"not judged here"}');
  const args = ['conformance', '--only', 'CX-TURN-01', '--json', '--junit', 'out.xml', '--expected', 'known.json'];
  const { code, stdout, stderr } = await place.run([...args, '--', process.execPath, executor]);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout);
  expect(report.rows.map(({ id, verdict }: { id: string; verdict: string }) => [id, verdict])).toEqual([
    ['CX-TURN-01', 'stale'],
  ]);
  expect([code, report.conformant]).toEqual([1, false]);
  expect(readFileSync(join(place.path, 'out.xml'), 'utf8')).toContain('an expected failure that is none');
});

test('an executor with a model is pointed at the model server by the environment, and judged by what that can show', async () => {
  const models = join(import.meta.dirname, '../../src/adapters/models/index.ts');
  const path = join(folder, 'real.ts');
  writeFileSync(
    path,
    `import { spawnSync } from 'node:child_process';
import { LlmAgent } from ${JSON.stringify(source)};
import { openaiChatModel } from ${JSON.stringify(models)};
const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = process.env;
console.log('a module');
spawnSync(process.execPath, ['-e', 'console.log("a child")'], { stdio: 'inherit' });
export default () => new LlmAgent({ name: 'bot', model: openaiChatModel('cx', { baseUrl, apiKey, provider: 'openai' }) });
`,
  );
  const place = new Place();
  const { code, stdout, stderr } = await place.run(['conformance', path, '--only', 'MODEL', '--json']);
  // What the module and its children print is not the report's.
  expect([code, stderr]).toEqual([0, 'a module\na child\n']);
  const { rows, conformant } = JSON.parse(stdout);
  expect([rows.length, conformant]).toEqual([6, true]);
  expect(rows).toContainEqual(expect.objectContaining({ id: 'CX-MODEL-01', verdict: 'passed' }));
  const minimal = await place.run(['conformance', '--only', 'MODEL-01', '--', process.execPath, executor]);
  expect(minimal.stdout).toContain('its model is another one: the model server was not asked');
});

test('a module may export an agent, a source, a factory, or a function that makes one', async () => {
  const forms: Record<string, string> = {
    agent: 'export default new LlmAgent({ name: "bot", model })',
    source: 'export default fromAgent(new LlmAgent({ name: "bot", model }))',
    made: 'export default () => new LlmAgent({ name: "bot", model })',
    factory: `const made = fromAgent(new LlmAgent({ name: "bot", model }));
      const factory = createSessionFactory();
      factory.register("adk", (_, context) => made.open({}, context));
      export default { factory, descriptor: made.descriptor }`,
  };
  for (const [name, code] of Object.entries(forms)) {
    const path = join(folder, `${name}.ts`);
    const model = 'const model = { name: "none", async *generate() {} };';
    writeFileSync(
      path,
      `import { LlmAgent, createSessionFactory, fromAgent } from ${JSON.stringify(source)};\n${model}\n${code};\n`,
    );
    const target = await findTarget([path], {});
    const findings = await Promise.all(first.map((requirement) => judge(requirement, target)));
    expect([name, findings.map(({ status, found }) => found ?? status)]).toEqual([name, ['passed']]);
  }
});

test('a ws:// address: its only agent is judged with the token that is given, and which of many has to be named', async () => {
  const agent = (name: string) => fromAgent(new LlmAgent({ name, model: fixtureModel() }));
  const start = async (...names: string[]) =>
    serveExecutor({ app: 'conformance', agents: names.map(agent) }, { warn: () => {} });
  const [one, two] = [await start('bot'), await start('bot', 'other')];
  try {
    const token = String(one.token);
    const target = await findTarget([one.url], { token });
    expect(target.name).toBe(new URL(one.url).host);
    const chosen = requirements.filter(({ id }) => /^CX-(TURN-0[13]|TOOL-02|RESUME-03)$/.test(id));
    const findings = await runConformance(chosen, target);
    expect(findings.map(({ status, found }) => found ?? status)).toEqual(['passed', 'passed', 'passed', 'passed']);
    const strange = await findTarget([one.url], { token: 'guessed' });
    await expect(strange.start()).rejects.toThrow(/no connection to .*is the token the right one/);
    const many = await findTarget([two.url], { token: String(two.token) });
    await expect(many.start()).rejects.toMatchObject({
      code: 'E_USAGE',
      message: expect.stringContaining('bot, other'),
    });
    const named = await findTarget([two.url], { token: String(two.token), agent: 'other' });
    const [finding] = await runConformance(first, named);
    expect(finding?.status).toBe('passed');
  } finally {
    await Promise.all([one, two].map((server) => server.close({ deadlineMs: 0 })));
  }
});

test.each([
  ['nothing', [], /name a module/],
  ['a module that is not there', ['missing.ts'], /no module missing\.ts/],
  ['a folder', [tmpdir()], /is a folder/],
])('%s is refused', async (_, words, message) => {
  await expect(findTarget(words, {})).rejects.toMatchObject({
    code: 'E_USAGE',
    message: expect.stringMatching(message),
  });
});

test('a module that exports nothing to judge is told so', async () => {
  const path = join(folder, 'empty.ts');
  writeFileSync(path, 'export const nothing = 1;\n');
  const target = await findTarget([path], {});
  await expect(target.start()).rejects.toMatchObject({ code: 'E_USAGE' });
});

test('a command in quotes is told how to be written, before anything is judged', async () => {
  await expect(findTarget(['python3 executor.py'], {})).rejects.toMatchObject({
    code: 'E_USAGE',
    message: expect.stringContaining('-- python3 executor.py'),
  });
});

test('NEW-R2 a server that is not there is one fault, which names its address', async () => {
  const { code, stdout, stderr } = await command(['conformance', 'ws://127.0.0.1:1/v1', '--token', 'x']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^coxswain: E_CONNECTION_LOST cannot reach ws:\/\/127\.0\.0\.1:1\/v1: nothing answers there[^\n]*\n$/,
  );
});
