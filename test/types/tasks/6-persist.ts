import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, run } from 'coxswain';
import { openSqlite } from 'coxswain/stores/sqlite';
import { clerk, pay } from './bank.ts';

const folder = mkdtempSync(join(tmpdir(), 'coxswain-task-'));
const path = join(folder, 'bank.db');
const given = { app: 'bank', agents: [clerk()], tools: [pay], deps: { paid: [] } };

// #region task
const host = createHost({ ...given, store: openSqlite(path) });
const session = await host.open('clerk', { sessionId: 's', create: true });
const { reason } = await run(session, 'Pay 300.');
// #endregion

console.log(reason);
await host.close();

const later = createHost({ ...given, store: openSqlite(path) });
const [request] = await (await later.open('clerk', { sessionId: 's' })).pending();
console.log(`${request?.name} is open`);
await later.close();
rmSync(folder, { recursive: true });
