import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost, defineTool, LlmAgent, presetPolicy, run } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { only } from './kit.ts';

test.each([true, false])(
  'ATT-13 a handler has asked here (answered: %s), and a process that ran the call again was killed: the call is asked about as lost',
  async (isAnswered) => {
    const folder = mkdtempSync(join(tmpdir(), 'overtaken-'));
    const path = join(folder, 'log.db');
    const store = openSqlite(path);
    let paid = 0;
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: (_, context) => {
        if (!context.confirmation) return context.requestConfirmation({ hint: 'Sure?' });
        paid++;
        return 'paid';
      },
    });
    const host = createHost({
      app: 'shop',
      agents: [new LlmAgent({ name: 'clerk', model: new ScriptedModel([{ calls: [['pay', {}]] }, 'done']) })],
      tools: [pay],
      policy: presetPolicy('autonomous'),
      sessions: store,
    });
    onTestFinished(async () => {
      await host.close();
      await store.close();
      rmSync(folder, { recursive: true });
    });
    const session = await host.open('clerk', { sessionId: 's', create: true });
    await run(session, 'go');
    const asked = await only(session);
    expect(asked).toMatchObject({ message: 'Sure?' });
    if (isAnswered) await session.respond(asked.requestId, { kind: 'approve' });

    const child = spawn(
      process.execPath,
      ['--no-warnings', join(import.meta.dirname, 'overtaken-question-child.ts'), path],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('rerun_unknown');
    expect((await lines.next()).value).toBe('paid');
    child.kill('SIGKILL');
    await once(child, 'exit');

    const done = await run(session, { kind: 'continue' });
    expect(done.reason).toBe('input_required');
    expect(paid).toBe(0);
    const now = await only(session);
    expect(now.kind).toBe('rerun_unknown');
    await session.respond(now.requestId, { kind: 'deny' });
    await run(session, { kind: 'continue' });
    expect(paid).toBe(0);
  },
);
