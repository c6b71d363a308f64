import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { serveMcpStdio } from '../../src/host/mcp/index.ts';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { payTool, puppet } from './agents.ts';

const initialize = {
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'raw', version: '1' },
  },
};

/** A client at the other end of two pipes, whose question is open. */
async function asked() {
  const runs: unknown[] = [];
  const host = createHost({
    app: 'shop',
    agents: [puppet()],
    tools: [payTool(runs)],
    store: new InMemorySessionService(),
  });
  const input = new PassThrough();
  const output = new PassThrough();
  const warnings: string[] = [];
  const server = await serveMcpStdio(host, { input, output, warn: (text, error) => warnings.push(`${text} ${error}`) });
  const isAsked = new Promise<void>((resolve) => {
    output.on('data', (chunk) => String(chunk).includes('elicitation/create') && resolve());
  });
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send(initialize);
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'puppet', arguments: { prompt: 'call pay {"amount": 5}' } } });
  await isAsked;
  return {
    input,
    output,
    server,
    warnings,
    /** What is left once the server has let go. */
    async left() {
      await server.closed;
      const open = await host.approvals.list();
      await host.close();
      return { open: open.length, runs };
    },
  };
}

test('the reader of its output is gone: it ends, and its question stays open', async () => {
  const { output, left } = await asked();
  output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  expect(await left()).toEqual({ open: 1, runs: [] });
});

test('a line that is longer than any message: it ends, says why, and its question stays open', async () => {
  const { input, warnings, left } = await asked();
  for (let n = 0; n < 11; n++) input.write(Buffer.alloc(1024 * 1024, 'x'));
  expect(await left()).toEqual({ open: 1, runs: [] });
  expect(warnings.join('\n')).toContain('maximum size');
});

test('its input ends: its question stays open', async () => {
  const { input, left } = await asked();
  input.end();
  expect(await left()).toEqual({ open: 1, runs: [] });
});

test('rubbish between messages is told and passed over', async () => {
  const { input, warnings, server, output, left } = await asked();
  const answered = new Promise<string>((resolve) => {
    output.on('data', (chunk) => String(chunk).includes('"id":3') && resolve(String(chunk)));
  });
  input.write('rubbish\n{"jsonrpc":"2.0"}\n[]\n\u0000\n');
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/list' })}\n`);
  expect(await answered).toContain('puppet');
  expect(warnings.length).toBeGreaterThan(0);
  await server.close();
  expect(await left()).toEqual({ open: 1, runs: [] });
});
