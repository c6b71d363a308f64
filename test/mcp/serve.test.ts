import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Place, puppet } from '../cli/coxswain.ts';
import { connect, textOf } from './clients.ts';

test('coxswain serve --mcp: the same agent for MCP clients, for whoever has the token', async () => {
  using place = new Place();
  const args = ['serve', puppet, '--port', '0', '--mcp', '0', '--workspace', place.desk];
  const running = place.start(args);
  await running.shows('\n');
  const { mcp, tokenFile } = JSON.parse(running.stdout.split('\n')[0] ?? '') as { mcp: string; tokenFile: string };
  await expect(connect('v1', { url: mcp })).rejects.toThrow();
  await expect(connect('v2', { url: mcp, token: 'guessed' })).rejects.toThrow();
  const token = readFileSync(tokenFile, 'utf8');
  for (const kind of ['v2', 'v1'] as const) {
    await using client = await connect(
      kind,
      { url: mcp, token },
      { onElicit: () => ({ action: 'accept', content: { decision: 'allow' } }) },
    );
    expect(textOf(await client.call('puppet', { prompt: 'call pay {"amount": 5}' }))).toContain('paid 5');
  }
  expect(readFileSync(join(place.desk, 'ledger.txt'), 'utf8')).toBe('5\n5\n');
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
});
