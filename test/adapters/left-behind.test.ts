import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { launchExecutor } from '../../src/conformance/index.ts';
import { createHost } from '../../src/index.ts';
import { say } from '../host/kit.ts';

/** Starts a process, notes its id, and goes in good order at the end of its input. */
const kin = (file: string) => `
const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
require('node:fs').writeFileSync(${JSON.stringify(file)}, String(child.pid));
child.unref();
process.stdin.on('end', () => process.exit(0));
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
`;

const acpAgent = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') answer(id, { protocolVersion: 1, agentCapabilities: {} });
  if (method === 'session/new') answer(id, { sessionId: 's' });
  if (method === 'session/prompt') answer(id, { stopReason: 'end_turn' });
});`;

const executor = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  answer(id, { protocolVersion: '1.0', descriptor: { name: 'kin', description: 'k', capabilities: [] } });
});`;

function note(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-kin-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'pid');
}

/** Resolves once a process is gone, or is dead and waits for whoever looks after it. */
async function gone(file: string): Promise<void> {
  const pid = Number(readFileSync(file, 'utf8'));
  const lives = () => {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (lives()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe.skipIf(process.platform !== 'linux')('SOAK-7 what an agent’s process has started', () => {
  test('ends with an ACP agent that goes in good order', async () => {
    const file = note();
    const agent = fromAcp({ name: 'kin', command: process.execPath, args: ['-e', kin(file) + acpAgent] });
    const host = createHost({ app: 'shop', agents: [agent] });
    const session = await host.open('kin');
    await say(session, 'hi');
    await session[Symbol.asyncDispose]();
    await host.close();
    await gone(file);
    expect(Number(readFileSync(file, 'utf8'))).toBeGreaterThan(0);
  });

  test('ends with an executor that goes in good order', async () => {
    const file = note();
    const running = await launchExecutor([process.execPath, '-e', kin(file) + executor]);
    await running.close?.();
    await gone(file);
    expect(running.descriptor.name).toBe('kin');
  });
});
