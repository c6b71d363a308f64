import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiFolder, apiReports } from '../../scripts/generate-api.ts';
import { project } from '../packed.ts';

test('the declarations that are published are those of api: `npm run api` writes them', { timeout: 300_000 }, () => {
  using home = project();
  // What lies in node_modules is reported as somebody else's.
  const dist = mkdtempSync(join(tmpdir(), 'coxswain-declarations-'));
  cpSync(join(home.folder, 'node_modules/coxswain/dist'), dist, { recursive: true });
  const reports = apiReports(dist);
  rmSync(dist, { recursive: true, force: true });
  const kept = readdirSync(apiFolder).filter((name) => name.endsWith('.api.md'));
  expect(kept.sort()).toEqual([...reports.keys()].sort());
  for (const [name, text] of reports) expect([name, readFileSync(join(apiFolder, name), 'utf8')]).toEqual([name, text]);
});
