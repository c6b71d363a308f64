import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileArtifactService } from '../../src/adapters/stores/file-artifacts.ts';
import { InMemoryArtifactService } from '../../src/runtime/index.ts';
import { artifactServiceSuite } from '../contract/artifact-service.ts';

artifactServiceSuite('in memory', async () => ({ service: new InMemoryArtifactService(), close: async () => {} }));

artifactServiceSuite('files', async () => {
  const root = await mkdtemp(join(tmpdir(), 'coxswain-artifacts-'));
  return {
    service: new FileArtifactService(root),
    reopen: async () => new FileArtifactService(root),
    close: () => rm(root, { recursive: true, force: true }),
  };
});
