import { expect, test } from 'vitest';
import { main } from '../../examples/remote/main.ts';

test('the example runs: a connection is lost and made again, a second person approves, the requester reads the end', async () => {
  const lines: string[] = [];
  expect(await main((line) => lines.push(line))).toBe('It is paid back.');
  expect(lines).toContain('anna waits for refund');
  expect(lines).toContain('bert is asked: refund {"amount":30} for anna');
  expect(lines).toContain('refund: {"type":"text","text":"paid back 20"}');
  expect(lines.filter((line) => line === "anna's connection: ready")).toHaveLength(2);
});
