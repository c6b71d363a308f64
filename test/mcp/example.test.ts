import { expect, test } from 'vitest';
import { main } from '../../examples/mcp/main.ts';

test('the example runs: an agent over MCP is a tool of another, its question reaches a person', async () => {
  const lines: string[] = [];
  expect(await main((line) => lines.push(line))).toBe('It is done.');
  expect(lines[1]).toBe('office asks: Run post_entry? (The tool may change something.)  posts 12');
  expect(lines[2]).toContain('Twelve is in the ledger.');
});
