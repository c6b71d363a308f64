import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { conformanceTests, launchExecutor, sharedTarget, targetOfCommand } from '../../src/conformance/index.ts';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { checkStream } from '../../src/contracts/index.ts';
import { agentDescriptor, agentEvent, sessionInput } from '../../src/contracts/schemas/index.ts';

const folder = join(import.meta.dirname, '../../examples/minimal-executor');
const hasPython = spawnSync('python3', ['--version']).status === 0;

const minimal = [
  { name: 'executor.ts', command: [process.execPath, join(folder, 'executor.ts')], skip: false },
  { name: 'executor.py', command: ['python3', join(folder, 'executor.py')], skip: !hasPython },
];

test('the minimal executor in TypeScript has fewer than 150 lines and imports nothing', () => {
  const code = readFileSync(join(folder, 'executor.ts'), 'utf8');
  expect(code.trimEnd().split('\n').length).toBeLessThan(150);
  expect(code).not.toMatch(/\bimport\b/);
});

test('NEW-C2 the exchange that the profile shows is one: its frames fit the schemas, its streams the grammar', () => {
  const page = readFileSync(join(folder, '../../spec/EXECUTOR.md'), 'utf8');
  const lines = (/```text\n(> [\s\S]*?)\n```/.exec(page)?.[1] ?? '').split('\n');
  const frames = lines.map((line) => JSON.parse(line.slice(2)));
  expect(frames.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
  expect(agentDescriptor.safeParse(frames[1].result.descriptor).success).toBe(true);
  for (const { params } of frames.filter(({ method }) => method === 'stream')) {
    for (const input of params.input) expect(sessionInput.safeParse(input).error).toBeUndefined();
  }
  const shown: AgentEvent[] = frames.flatMap(({ method, params }) => (method === 'event' ? [params.event] : []));
  expect(shown.map((event) => agentEvent.safeParse(event).error)).toEqual(shown.map(() => undefined));
  for (const streamId of ['r1', 'r2']) {
    const events = shown.filter((event) => event.streamId === streamId);
    expect(checkStream(events, { initialized: streamId === 'r2' })).toEqual([]);
  }
});

// One process for all checks: a start takes longer than a check.
describe.each(minimal)('$name over stdio keeps the contract', ({ command, skip }) => {
  const target = sharedTarget(targetOfCommand(command));
  afterAll(() => target[Symbol.asyncDispose]());
  for (const { id, title, run } of conformanceTests(target)) {
    test.skipIf(skip)(`${id} ${title}${skip ? ' (there is no python3)' : ''}`, run);
  }
});

describe('an executor that keeps its sessions in a folder survives its process', () => {
  const store = mkdtempSync(join(tmpdir(), 'coxswain-stored-'));
  afterAll(() => rmSync(store, { recursive: true }));
  const target = targetOfCommand([process.execPath, join(import.meta.dirname, 'stored-executor.mjs'), store]);
  const judged = conformanceTests(target).filter(({ id }) => /RESUME|FENCE|ELIC-0[56]|STEER/.test(id));
  for (const { id, title, run } of judged) {
    test(`${id} ${title}`, async () => {
      const { status } = await run();
      expect(status).toBe(id === 'CX-RESUME-06' ? 'untested' : 'passed');
    });
  }
});

/** An executor in a line of JavaScript: `take` answers a request. */
const made = (take: string) => {
  const descriptor = '{name:"x",description:"",executor:"x",capabilities:[],ownTools:[],requiredTools:[],subAgents:[]}';
  const code = `
    const write = (frame) => process.stdout.write(JSON.stringify({jsonrpc: "2.0", ...frame}) + "\\n");
    const event = (event) => write({method: "event", params: {sessionId: "s", streamId: event.streamId, event}});
    let rest = "";
    process.stdin.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\\n");
      rest = lines.pop();
      for (const line of lines) {
        const {id, method, params} = JSON.parse(line);
        if (method === "initialize") write({id, result: {protocolVersion: "1.0", descriptor: ${descriptor}}});
        else if (method === "open") write({id, result: {sessionId: "s"}});
        else { ${take} }
      }
    });`;
  return [process.execPath, '-e', code];
};

async function eventsOf(session: AgentSession): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of session.stream('hello')) events.push(event);
  return events;
}

test('an executor that dies in the middle of a stream: the stream ends failed, with its last words', async () => {
  const dies = made(`
    write({id, result: {}});
    const time = new Date().toISOString();
    event({id: "1", type: "initialize", timestamp: time, sessionId: "s", streamId: params.streamId, agentId: "x", interfaceVersion: "1.0"});
    console.error("out of luck");
    process.exit(7);`);
  const executor = await launchExecutor(dies);
  const session = await executor.open();
  const events = await eventsOf(session);
  expect(events.map(({ type }) => type)).toEqual(['initialize', 'error', 'stream_end']);
  expect(events[1]).toMatchObject({ status: 'UNAVAILABLE', code: 'E_EXECUTOR_LOST', fatal: true, retryable: true });
  expect(events[1]).toHaveProperty('message', expect.stringMatching(/exit code 7; it said: out of luck$/));
  expect(checkStream(events)).toEqual([]);
  await expect(eventsOf(session)).rejects.toMatchObject({ code: 'E_EXECUTOR_LOST' });
  await executor.close?.();
});

test('a log on standard output is a breach that is told', async () => {
  const chatty = made('console.log("starting up");');
  const executor = await launchExecutor(chatty);
  const session = await executor.open();
  await expect(eventsOf(session)).rejects.toMatchObject({
    code: 'E_EXECUTOR_PROTOCOL',
    message: expect.stringContaining('starting up'),
  });
  await executor.close?.();
});

test('a command that does not exist is told', async () => {
  await expect(launchExecutor(['no-such-command-here'])).rejects.toMatchObject({ code: 'E_EXECUTOR_LOST' });
});
