import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { FileArtifactService } from '../../src/adapters/stores/file-artifacts.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';
import { artifactServiceSuite } from '../suites/artifact-service.ts';

artifactServiceSuite('in memory', async () => ({ service: new InMemoryArtifactService(), close: async () => {} }));

artifactServiceSuite('files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'coxswain-artifacts-'));
  return {
    service: new FileArtifactService(root),
    reopen: async () => new FileArtifactService(root),
    close: () => rm(root, { recursive: true, force: true }),
  };
});

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

test('F45 no folder is called what a file system reserves or would cut: devices, dots at the end', async () => {
  const root = await mkdtemp(join(tmpdir(), 'coxswain-artifacts-'));
  folders.push(root);
  const service = new FileArtifactService(root);
  const key = { app: 'app', userId: 'u1', id: 's1' };
  const names = ['con', 'nul', 'com1', 'LPT1', 'README', 'a.', 'x.Y', 'é', 'user:aux', 'Z'.repeat(100)];
  for (const name of names) await service.save(key, name, { mimeType: 'text/plain', data: '' });
  const entries = (await readdir(root, { recursive: true })).map((path) => path.split('/').at(-1) ?? '');
  for (const entry of entries) {
    expect(entry).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)$/i);
    expect(entry).toMatch(/^[a-z0-9_%=.-]*[a-z0-9_=-]$/);
  }
  expect(entries.filter((entry) => entry.endsWith('.part'))).toEqual([]);
  expect(await service.list(key)).toEqual([...names].sort());
});
