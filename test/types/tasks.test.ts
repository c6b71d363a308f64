import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { outputs } from './tasks/agent.ts';
import { approved, bankHost, judged, persisted, served, streamed, withServer } from './tasks/others.ts';
import { readNote, tools } from './tasks/tool.ts';

describe('ten tasks, as programs without a cast', () => {
  test.each(Object.entries(tools))('1 a tool whose schemas are of %s', async (_, tool) => {
    expect(await readNote(tool)).toBe('It says a. 0 denied');
  });

  test('2 an agent with an output, of each library', async () => {
    expect(await outputs()).toEqual(['hello', 'hello', 'hello', 'hello']);
  });

  test('3 a host, 4 a stream whose end is not lost', async () => {
    expect(bankHost({ paid: [] }).agents.map(({ name }) => name)).toEqual(['bot']);
    expect(await streamed({ paid: [] })).toEqual(['input_required']);
  });

  test('5 an approval, 10 tested with a model that is scripted', async () => {
    const bank = { paid: [] };
    expect(await approved(bank)).toEqual(['pay 300 for ann', 'Paid.']);
    expect(bank.paid).toEqual([300]);
  });

  test('6 sessions that outlive their process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-tasks-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(await persisted(join(folder, 's.db'), { paid: [] })).toBe('pay is open');
  });

  test('7 a session over a socket', async () => {
    expect(await served({ paid: [] })).toBe('input_required');
  });

  test('8 tools of a server are looked up when somebody needs them', () => {
    expect(withServer('http://127.0.0.1:1/mcp').agents).toHaveLength(1);
  });

  test('9 a policy in code', async () => {
    const bank = { paid: [] };
    expect([await judged(bank), bank.paid]).toEqual(['pay', []]);
  });
});
